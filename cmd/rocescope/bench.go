package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rocescope/rocescope/pcaps/synth"
	"github.com/spf13/cobra"
)

// benchOptions are the flags of bench.
type benchOptions struct {
	packets, rounds natural
	dir             string
	cases, formats  []string
}

func (a *app) benchCommand() *cobra.Command {
	o := benchOptions{packets: 10_000_000, rounds: 3}
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure how fast captures are analyzed, beside other programs",
		Long: `bench writes captures of a busy 400 Gb/s link, 96 bytes of each frame, and has
rocescope and other programs read them in turn, each in a process of its own. It
prints the medians of several rounds: time for a packet, packets a second, the
ratio to tcpdump --count, and the peak of memory. Programs that are not
installed are left out.

The cases: a, 256 flows of 16 host pairs; b, 10,000 flows of 1,000 pairs; c,
100,000 flows of 10,000 pairs; d, 256 flows between two hosts. WRITEs and the
responses to READs come in trains of 16 packets; one packet of 1,000 is lost and
repaired by going back, one of 100 is marked.`,
		Example: `  rocescope bench --packets 2000 --rounds 1 --cases a --formats pcap`,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.bench(cmd.Context(), &o) },
	}
	f := cmd.Flags()
	f.Var(&o.packets, "packets", "`N` packets in each capture")
	f.Var(&o.rounds, "rounds", "`N` rounds")
	f.StringVar(&o.dir, "dir", "", "keep the captures in `DIR` (default: a temporary one)")
	f.StringSliceVar(&o.cases, "cases", []string{"a", "b", "c", "d"}, "the `CASES` to measure")
	f.StringSliceVar(&o.formats, "formats", []string{"pcap", "pcapng"}, "the `FORMATS` of their files")
	cmd.AddCommand(a.benchLoopCommand(), a.benchReadCommand())
	return cmd
}

// benchCase is a capture to measure on.
type benchCase struct {
	name, about string
	bulk        synth.Bulk
}

var benchCases = []benchCase{
	{"a", "256 flows, 16 host pairs", synth.Bulk{Connections: 128, HostPairs: 16}},
	{"b", "10,000 flows, 1,000 host pairs", synth.Bulk{Connections: 5_000, HostPairs: 1_000}},
	{"c", "100,000 flows, 10,000 host pairs", synth.Bulk{Connections: 50_000, HostPairs: 10_000}},
	{"d", "256 flows, 1 host pair", synth.Bulk{Connections: 128, HostPairs: 1}},
}

var benchFormats = map[string]synth.Format{"pcap": synth.Pcap, "pcapng": synth.Pcapng}

// bench is the command.
func (a *app) bench(ctx context.Context, o *benchOptions) error {
	cases, err := o.chosen()
	if err != nil {
		return err
	}
	if os.Getenv(benchEnv) != "" {
		return usage("", "bench does not measure itself")
	}
	temp, err := os.MkdirTemp("", "rocescope-bench-")
	if err != nil {
		return unwritable("a temporary directory", err)
	}
	defer os.RemoveAll(temp)
	self, err := ownName(temp)
	if err != nil {
		return err
	}
	dir := cmp.Or(o.dir, temp)
	for _, c := range cases {
		for _, format := range o.formats {
			if err := a.benchOne(ctx, o, self, dir, &c, format); err != nil {
				return err
			}
		}
	}
	return nil
}

// benchEnv is set in the processes that bench starts.
const benchEnv = "ROCESCOPE_BENCH"

// ownName links this program into a directory under its name, for it may be part
// of another one that goes by the name it is called with.
func ownName(dir string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("this program's own file: %w", err)
	}
	link := filepath.Join(dir, "rocescope")
	if err := os.Symlink(self, link); err != nil {
		return "", unwritable(link, err)
	}
	return link, nil
}

// chosen returns the cases that were asked for.
func (o *benchOptions) chosen() ([]benchCase, error) {
	for _, f := range o.formats {
		if _, ok := benchFormats[f]; !ok {
			return nil, usage("the formats are pcap and pcapng", "there is no format %q", f)
		}
	}
	var out []benchCase
	for _, name := range o.cases {
		i := slices.IndexFunc(benchCases, func(c benchCase) bool { return c.name == name })
		if i < 0 {
			return nil, usage("the cases are a, b, c and d", "there is no case %q", name)
		}
		out = append(out, benchCases[i])
	}
	return out, nil
}

// benchOne measures one case in one format.
func (a *app) benchOne(ctx context.Context, o *benchOptions, self, dir string, c *benchCase, format string) error {
	file := filepath.Join(dir, fmt.Sprintf("bench-%s-%d.%s", c.name, o.packets, format))
	if err := o.benchFile(file, c.bulk, benchFormats[format]); err != nil {
		return err
	}
	if o.dir == "" {
		defer os.Remove(file)
	}
	warm(file)
	runs := contenders(self, file, int64(o.packets))
	for range o.rounds {
		for i := range runs {
			if err := runs[i].run(ctx); err != nil {
				return fmt.Errorf("%s: %w", strings.Join(runs[i].args, " "), err)
			}
		}
	}
	return a.benchTable(c, format, int64(o.rounds), runs)
}

// benchFile writes a capture, unless it is there.
func (o *benchOptions) benchFile(file string, b synth.Bulk, format synth.Format) error {
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	b.Packets, b.Train, b.Seed, b.File = int(o.packets), 16, 1, synth.File{Format: format, SnapLen: 96}
	f, err := os.Create(file)
	if err != nil {
		return unwritable(file, err)
	}
	if _, err := b.Write(f); err != nil {
		f.Close()
		return unwritable(file, err)
	}
	return f.Close()
}
