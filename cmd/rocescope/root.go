package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// app is what all commands share: the streams of this run.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
}

// run is the whole tool. args leaves out the program's name.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr}
	root := a.root()
	if args == nil {
		args = []string{} // nil would make cobra look at the process's own
	}
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	return a.exit(cmd, err)
}

// root is the command without a name: it analyzes, as analyze does.
func (a *app) root() *cobra.Command {
	var o analyzeOptions
	root := &cobra.Command{
		Use:   "rocescope [FILE…]",
		Short: "Find out what is wrong with a RoCEv2 fabric from a capture of it",
		Long: `rocescope reads packet captures of RoCEv2 traffic (pcap and pcapng, plain or
packed with gzip or zstd) and says what is wrong: which queue pairs lost packets
and on which side of the tap, who paused whom, where congestion was marked, and
which frames of the capture prove it.

Without a command, FILE is analyzed.`,
		Example: `  rocescope trace.pcapng                        what is wrong here?
  rocescope analyze leaf1.pcap leaf2.pcap       two captures, merged in time order
  rocescope packets trace.pcapng --only 'retransmission*'
  tcpdump -i eth0 -w - udp port 4791 | rocescope -r -`,
		Version:       version(),
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args)+len(o.files) == 0 {
				cmd.SetOut(a.stderr)
				return errors.Join(cmd.Help(), errNothingToDo)
			}
			return a.analyze(cmd.Context(), &o, args)
		},
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	o.register(root)
	root.Flags().VisitAll(func(f *pflag.Flag) { f.Hidden = true }) // they stand in the help of analyze
	root.AddCommand(a.analyzeCommand(), a.packetsCommand(), a.explainCommand(), a.generateCommand(), a.benchCommand(), a.versionCommand())
	return root
}
