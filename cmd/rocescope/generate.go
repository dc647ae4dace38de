package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/rocescope/rocescope/pcaps/synth"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// generateOptions are the flags of generate.
type generateOptions struct {
	output  string
	list    bool
	seed    uint64
	snapLen natural
	flags   *pflag.FlagSet // which tell what was asked for
}

func (a *app) generateCommand() *cobra.Command {
	o := generateOptions{snapLen: 1}
	cmd := &cobra.Command{
		Use:   "generate SCENARIO -o FILE",
		Short: "Write a capture of a described scenario, with what really happened in it",
		Long: `generate plays one of the scenarios that --list names in a simulated fabric, and
writes what a tap there captures. What really happened, counted under the names
of the report's columns, is written beside it: trace.pcapng has its truth in
trace.truth.json.

The name of FILE says the format: .pcapng (also where it says nothing) or .pcap,
and .gz behind it packs. What a scenario's further taps capture is written to
trace-2.pcapng and so on. Where FILE is - or there is none, the first capture
alone goes to standard output.

A scenario gives the same capture each time and everywhere; with another --seed
chance strikes elsewhere.`,
		Example: `  rocescope generate --list
  rocescope generate dcqcn-incast -o incast.pcapng
  rocescope generate lossy-mirror --seed 7 --snaplen 128 -o mirror.pcap.gz
  rocescope generate bad-cable -o - | rocescope -`,
		ValidArgsFunction: completeScenario,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.generate(&o, args) },
	}
	o.flags = cmd.Flags()
	o.flags.StringVarP(&o.output, "output", "o", "", "write the capture to `FILE`, and the truth beside it")
	o.flags.BoolVar(&o.list, "list", false, "list the scenarios")
	o.flags.Uint64Var(&o.seed, "seed", 0, "`NUMBER` from which all chance follows (default: the scenario's own)")
	o.flags.Var(&o.snapLen, "snaplen", "cut frames to N bytes")
	o.flags.Lookup("snaplen").DefValue = ""
	return cmd
}

// completeScenario has shells offer the scenarios, with what each shows.
func completeScenario(_ *cobra.Command, args []string, _ string) (out []string, _ cobra.ShellCompDirective) {
	if len(args) == 0 {
		for _, s := range synth.Scenarios() {
			out = append(out, cobra.CompletionWithDesc(s.Name, s.About))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// generate is the command.
func (a *app) generate(o *generateOptions, args []string) error {
	switch {
	case o.list:
		return a.listScenarios()
	case len(args) == 0:
		return usage("rocescope generate --list names them all", "no scenario was named")
	case len(args) > 1:
		return usage("call generate once for each", "one scenario at a time, and not also %s", args[1])
	}
	s, err := scenarioByName(args[0])
	if err != nil {
		return err
	}
	if err := o.apply(s); err != nil {
		return err
	}
	if o.output == "-" || o.output == "" {
		return a.generateToStdout(s)
	}
	return o.writeAll(s)
}

func (a *app) listScenarios() error {
	scenarios, width := synth.Scenarios(), 0
	for _, s := range scenarios {
		width = max(width, len(s.Name))
	}
	for _, s := range scenarios {
		if _, err := fmt.Fprintf(a.stdout, "%-*s  %s\n", width, s.Name, s.About); err != nil {
			return unwritable("the output", err)
		}
	}
	return nil
}

// apply changes a scenario as the flags and the output's name ask.
func (o *generateOptions) apply(s *synth.Scenario) error {
	if o.flags.Changed("seed") {
		s.Seed = o.seed
	}
	if o.flags.Changed("snaplen") {
		s.File.SnapLen = int(o.snapLen)
	}
	return setFormat(&s.File, o.output)
}

func (a *app) generateToStdout(s *synth.Scenario) error {
	if _, is := terminal(a.stdout); is {
		return usage("name a file with -o, or send it through a pipe", "a capture is nothing to show on a terminal")
	}
	if err := buffered(a.stdout, synth.Run(s).Write); err != nil {
		return unwritable("the output", err)
	}
	return nil
}

// writeAll writes what each tap captured, and the truth of each. A pipe or a
// device gets the first capture, and has no room for more.
func (o *generateOptions) writeAll(s *synth.Scenario) error {
	first := synth.Run(s)
	if !plain(o.output) {
		return writeFile(o.output, first.Write)
	}
	stem, ext := splitName(o.output)
	for i, c := range append([]*synth.Capture{first}, first.More...) {
		name := stem
		if i > 0 {
			name = fmt.Sprintf("%s-%d", stem, i+1)
		}
		if err := writeFile(name+ext, c.Write); err != nil {
			return err
		}
		t := truthFile{s.Name, s.About, s.Seed, o.command(s), filepath.Base(name + ext), &c.Truth}
		if err := writeFile(name+".truth.json", t.write); err != nil {
			return err
		}
	}
	return nil
}

// command is what makes the same files again.
func (o *generateOptions) command(s *synth.Scenario) string {
	args := []string{"rocescope", "generate", s.Name}
	for _, name := range []string{"seed", "snaplen"} {
		if f := o.flags.Lookup(name); f.Changed {
			args = append(args, "--"+name, f.Value.String())
		}
	}
	return strings.Join(append(args, "-o", filepath.Base(o.output)), " ")
}
