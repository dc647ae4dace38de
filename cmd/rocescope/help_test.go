package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestExamplesInHelpRun runs every example that the help shows, on captures of
// the names it uses.
func TestExamplesInHelpRun(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"trace.pcapng", "leaf1.pcap", "leaf2.pcap", "leaf1.pcap.gz", "leaf2.pcap.gz"} {
		if err := os.WriteFile(name, smallCapture(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, cmd := range commands((&app{}).root()) {
		if cmd.Example == "" {
			t.Errorf("%s has no example", cmd.CommandPath())
		}
		for example := range strings.Lines(cmd.Example) {
			args := argsOf(t, example)
			t.Run(strings.Join(args, " "), func(t *testing.T) {
				var stdout, stderr bytes.Buffer
				got := run(context.Background(), args, bytes.NewReader(smallCapture()), &stdout, &stderr)
				if got != exitRan || stderr.Len() > 0 {
					t.Errorf("exit code %d, and says:\n%s", got, &stderr)
				}
			})
		}
	}
}

// commands returns a command and those below it which are the project's own.
func commands(root *cobra.Command) []*cobra.Command {
	return append([]*cobra.Command{root}, root.Commands()...)
}

// argsOf splits an example as a shell does: what stands behind the pipe, less
// the name of the program, the remark at the end, and quotes.
func argsOf(t *testing.T, example string) []string {
	t.Helper()
	if _, behind, ok := strings.Cut(example, " | "); ok {
		example = behind
	}
	text, ok := strings.CutPrefix(strings.TrimSpace(example), "rocescope ")
	if !ok {
		t.Fatalf("%q does not call rocescope", example)
	}
	text, _, _ = strings.Cut(text, "   ")
	return strings.Fields(strings.ReplaceAll(text, "'", ""))
}
