package main

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print which rocescope this is",
		Example: "  rocescope version",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(a.stdout, "rocescope", version())
			return err
		},
	}
}

// version is what the build has recorded: the module's version or the commit,
// and the compiler.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return versionOf(info)
}

func versionOf(info *debug.BuildInfo) string {
	v := info.Main.Version
	if v == "" || v == "(devel)" {
		v = "devel"
	}
	var details []string
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && v == "devel":
			details = append(details, "commit "+s.Value[:min(12, len(s.Value))])
		case s.Key == "vcs.modified" && s.Value == "true":
			details = append(details, "with changes")
		}
	}
	return v + " (" + strings.Join(append(details, info.GoVersion), ", ") + ")"
}
