package main

import (
	"io"
	"path"
	"strings"

	"github.com/rocescope/rocescope/analysis/detect"
	"github.com/rocescope/rocescope/analysis/render"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/spf13/cobra"
)

func (a *app) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain [RULE…]",
		Short: "Say what a finding means, how it is computed, what it is not, and what to do",
		Long: `explain shows the page of each RULE that a report may name. A * stands for
anything; without RULE, all are listed with a line each.

Limits.NAME on a page is a threshold with its reason in analysis/config.go.`,
		Example: `  rocescope explain
  rocescope explain loss.downstream
  rocescope explain 'rnr.*'`,
		ValidArgsFunction: completeRule,
		RunE:              func(_ *cobra.Command, args []string) error { return a.explain(args) },
	}
}

// completeRule has shells offer the rules, with what each says.
func completeRule(*cobra.Command, []string, string) (out []string, _ cobra.ShellCompDirective) {
	for _, r := range detect.Rules() {
		out = append(out, cobra.CompletionWithDesc(r.Name, r.Brief))
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// explain is the command.
func (a *app) explain(names []string) error {
	rules, err := rulesNamed(names)
	if err != nil {
		return err
	}
	width, is := terminal(a.stdout)
	opt := render.Options{Width: width, Color: is && colorful()}
	err = buffered(a.stdout, func(w io.Writer) error {
		if len(names) == 0 {
			return render.Rules(w, rules, opt)
		}
		for i := range rules {
			if i > 0 {
				if _, err := io.WriteString(w, "\n\n"); err != nil {
					return err
				}
			}
			if err := render.Rule(w, &rules[i], opt); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return unwritable("the output", err)
	}
	return nil
}

// rulesNamed returns the rules that any of the patterns fits, all where there
// are no patterns.
func rulesNamed(patterns []string) ([]report.Rule, error) {
	all := detect.Rules()
	if len(patterns) == 0 {
		return all, nil
	}
	var out []report.Rule
	for _, pattern := range patterns {
		found := false
		for _, r := range all {
			if ok, err := path.Match(strings.ToLower(pattern), r.Name); ok && err == nil {
				out, found = append(out, r), true
			}
		}
		if !found {
			return nil, usage("rocescope explain lists the rules", "there is no rule %s", pattern)
		}
	}
	return out, nil
}
