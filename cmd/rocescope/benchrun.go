package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/rocescope/rocescope/analysis/report"
)

// contender is a program that reads a capture.
type contender struct {
	name    string
	args    []string
	packets int64 // that it looks at
	times   []time.Duration
	cpu     []time.Duration
	peak    []int64 // bytes
}

// tsharkPackets is how many packets tshark is given: it needs microseconds for
// each.
const tsharkPackets = 500_000

// contenders returns the programs that are there, rocescope first.
func contenders(self, file string, packets int64) []contender {
	few := min(packets, tsharkPackets)
	all := []contender{
		{name: "rocescope analyze", packets: packets, args: []string{self, "analyze", "--format", "json", "-o", os.DevNull, file}},
		{name: "rocescope analyze, one core", packets: packets, args: []string{"taskset", "-c", "0", self, "analyze", "--format", "json", "-o", os.DevNull, file}},
		{name: "tcpdump --count", packets: packets, args: []string{"tcpdump", "-r", file, "--count"}},
		{name: "capinfos -c", packets: packets, args: []string{"capinfos", "-c", file}},
		{name: "DecodingLayerParser loop", packets: packets, args: []string{self, "bench", "loop", file}},
		{name: "plain read", packets: packets, args: []string{self, "bench", "read", file}},
		{name: "tshark -T fields", packets: few, args: []string{"tshark", "--disable-protocol", "rpcordma", "-r", file, "-c", fmt.Sprint(few), "-T", "fields",
			"-e", "frame.number", "-e", "infiniband.bth.opcode", "-e", "infiniband.bth.destqp", "-e", "infiniband.bth.psn"}},
	}
	return slices.DeleteFunc(all, func(c contender) bool {
		_, err := exec.LookPath(c.args[0])
		return err != nil
	})
}

// run runs it once.
func (c *contender) run(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
	cmd.Env = append(os.Environ(), benchEnv+"=1")
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return err
	}
	s := cmd.ProcessState
	c.times, c.cpu = append(c.times, time.Since(start)), append(c.cpu, s.UserTime()+s.SystemTime())
	c.peak = append(c.peak, peakOf(s))
	return nil
}

func median[T int64 | time.Duration](xs []T) T {
	if len(xs) == 0 {
		return 0
	}
	xs = slices.Sorted(slices.Values(xs))
	return xs[len(xs)/2]
}

// perPacket returns the median time for a packet, in ns.
func (c *contender) perPacket() float64 { return float64(median(c.times)) / float64(c.packets) }

// benchTable writes what was measured.
func (a *app) benchTable(bc *benchCase, format string, rounds int64, runs []contender) error {
	unit := 0.0 // what the ratio is to
	for i := range runs {
		if runs[i].name == "tcpdump --count" {
			unit = runs[i].perPacket()
		}
	}
	fmt.Fprintf(a.stdout, "%s, %s: %s; medians of %s on %d cores\n", bc.name, format, bc.about, report.Counted(rounds, "round"), runtime.NumCPU())
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "ns/packet\tMpackets/s\tCPU ns/packet\tof tcpdump's time\tpeak MiB\t  program\n")
	for i := range runs {
		c := &runs[i]
		ratio := "-"
		if unit > 0 {
			ratio = fmt.Sprintf("%.2f", c.perPacket()/unit)
		}
		fmt.Fprintf(w, "%.1f\t%.2f\t%.1f\t%s\t%d\t  %s\n", c.perPacket(), 1e3/c.perPacket(), float64(median(c.cpu))/float64(c.packets), ratio, median(c.peak)>>20, c.name)
	}
	if err := w.Flush(); err != nil {
		return unwritable("the output", err)
	}
	_, err := fmt.Fprintln(a.stdout)
	return err
}

// warm brings a file into the page cache.
func warm(file string) {
	if f, err := os.Open(file); err == nil {
		_, _ = io.Copy(io.Discard, f) // what cannot be read now is told when it is analyzed
		f.Close()
	}
}
