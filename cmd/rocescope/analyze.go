package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/detect"
	"github.com/rocescope/rocescope/analysis/diagnose"
	"github.com/rocescope/rocescope/analysis/render"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/spf13/cobra"
)

// analyzeOptions are the flags of analyze, and of rocescope without a command.
type analyzeOptions struct {
	files      []string
	format     string
	output     string
	port       port
	linkRate   rate
	links      natural
	maxFlows   natural
	workers    natural
	strict     bool
	counters   []string
	color      choice
	cpuProfile string
	memProfile string
}

func (a *app) analyzeCommand() *cobra.Command {
	var o analyzeOptions
	cmd := &cobra.Command{
		Use:   "analyze [flags] FILE…",
		Short: "Report what is wrong in captures: losses, resends, stalls, congestion, pauses",
		Long: `analyze reads captures to their end and reports what it found, worst first, each
finding with the frames that prove it and a Wireshark filter that shows them.

Several captures are merged in the order of time; frame numbers are then those
of the whole. Files that one capture was written to in turn (tcpdump -C or -G,
dumpcap -b), where each begins within a second of the end of the one before, are
read as one, in whichever order they are named. Format and compression of a
capture are found by content. A capture that is damaged is analyzed as far as it
can be read, and said to be so.

The report says what the counters of the hosts' adapters should have risen by
for this traffic. --counters FILE holds readings of them against that. A file
has what ethtool -S, rdma statistic (with -j and -p, too) or grep . on
/sys/class/infiniband/*/ports/*/hw_counters/* prints, or lines "name value"; a
line "# host 10.0.0.2" above says whose they are. A counter that comes twice was
read before and after the capture, and so was what stands above and below a line
of dashes; one reading counts since the driver was loaded. The flag may be
repeated, as for a file before and one after.

The exit code is 0 when the analysis ran, whatever it found, 2 when the command
line makes no sense, and 3 when no capture could be opened.`,
		Example: `  rocescope analyze trace.pcapng
  rocescope analyze --link-rate 100G -o report.json leaf1.pcap.gz leaf2.pcap.gz
  tcpdump -i eth0 -w - udp port 4791 | rocescope analyze -`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.analyze(cmd.Context(), &o, args) },
	}
	o.register(cmd)
	return cmd
}

func (o *analyzeOptions) register(cmd *cobra.Command) {
	f := cmd.Flags()
	o.workers, o.maxFlows = natural(runtime.GOMAXPROCS(0)), natural(analysis.Defaults(1).MaxFlows)
	o.port = 4791
	o.color = choice{"auto", []string{"auto", "always", "never"}}
	readFlags(cmd, &o.files, &o.port)
	f.StringVar(&o.format, "format", "", "`FORMAT` of the report: "+strings.Join(render.Names(), ", ")+" (default: by the name of the output, else text)")
	f.StringVarP(&o.output, "output", "o", "", "write the report to `FILE`")
	f.Var(&o.linkRate, "link-rate", "rate of the tapped link, as 100G; shares of it cannot be told without")
	f.Var(&o.links, "links", "how many equal-cost links lie between the hosts")
	f.Var(&o.maxFlows, "max-flows", "flows followed one by one; further ones count together")
	f.Var(&o.workers, "workers", "how many cores to use")
	f.BoolVar(&o.strict, "strict", false, "exit with 3 where any capture is damaged or cannot be opened")
	f.StringArrayVar(&o.counters, "counters", nil, "hold the adapters' counters in `FILE` against the capture; see above")
	f.Var(&o.color, "color", "colors; auto means on a terminal, unless NO_COLOR is set")
	f.StringVar(&o.cpuProfile, "cpuprofile", "", "write a CPU profile of rocescope itself to `FILE`")
	f.StringVar(&o.memProfile, "memprofile", "", "write a memory profile of rocescope itself to `FILE`")
	f.Lookup("links").DefValue = ""
	complete(cmd, "format", render.Names())
	complete(cmd, "color", o.color.from)
}

// readFlags are those of every command that reads captures.
func readFlags(cmd *cobra.Command, files *[]string, p *port) {
	f := cmd.Flags()
	f.StringArrayVarP(files, "read", "r", nil, "read `FILE`, as tcpdump and tshark spell it; - is standard input")
	f.Var(p, "port", "UDP destination port of RoCEv2")
	f.BoolP("numeric", "n", false, "accepted for habit's sake: names are never looked up")
	f.Lookup("numeric").Hidden = true
}

func complete(cmd *cobra.Command, flag string, words []string) {
	// It fails for a flag that does not exist, and only then.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// analyze is the command.
func (a *app) analyze(ctx context.Context, o *analyzeOptions, args []string) error {
	names := slices.Concat(o.files, args)
	format, err := o.chosenFormat()
	if err != nil {
		return err
	}
	for _, name := range names {
		if o.output != "" && sameFile(name, o.output) {
			return usage("give the report another name", "%s is an input, and would be overwritten by the report", name)
		}
	}
	dumps, err := o.dumps()
	if err != nil {
		return err
	}
	ins, err := a.open(ctx, names)
	if err != nil {
		return err
	}
	defer ins.close()
	stop, err := profile(o.cpuProfile, o.memProfile)
	if err != nil {
		return err
	}
	r, err := a.judged(ctx, ins, o.config())
	if err := errors.Join(err, stop()); err != nil {
		return err
	}
	unheld := hold(r, dumps)
	if err := a.write(r, format, o); err != nil {
		return err
	}
	if unheld != nil {
		return unheld // the report is worth having all the same
	}
	if damaged := a.tellDamage(ins); o.strict && (damaged || ins.refused > 0) {
		return &failure{exitUnreadable, "not all of the input could be read, which --strict does not put up with", ""}
	}
	return nil
}

func (o *analyzeOptions) config() *analysis.Config {
	c := analysis.Defaults(int(o.workers))
	c.Port = uint16(o.port)
	c.MaxFlows = int(o.maxFlows)
	c.LinkRate = float64(o.linkRate)
	c.Links = int(o.links)
	return c
}

// chosenFormat is what --format says, else what the output's name does.
func (o *analyzeOptions) chosenFormat() (string, error) {
	formats := strings.Join(render.Names(), ", ")
	if o.format != "" {
		if _, ok := render.ByName(o.format); !ok {
			return "", usage("the formats are "+formats, "there is no format %q", o.format)
		}
		return o.format, nil
	}
	if st, err := os.Stat(o.output); o.output == "" || err == nil && !st.Mode().IsRegular() {
		return "text", nil
	}
	f, ok := render.ByFile(o.output)
	if !ok {
		return "", usage("say it with --format: "+formats, "the name %s does not tell the format of the report", o.output)
	}
	return f.Name, nil
}

// judged runs the analysis. An interrupt ends the reading, and the report is
// of what was read until then.
func (a *app) judged(ctx context.Context, ins *inputs, cfg *analysis.Config) (*report.Report, error) {
	src, done := a.watched(ins)
	r, err := analysis.Run(ctx, src, detect.All(), cfg)
	done()
	if ctx.Err() != nil {
		a.tell("interrupted; the report covers what was read until now", "")
	}
	if r == nil || err != nil && !interrupted(err) {
		return nil, fmt.Errorf("the analysis failed: %w", err)
	}
	r.Captures = ins.captures()
	analysis.Judge(r, detect.All(), cfg)
	diagnose.Apply(r)
	return r, nil
}

// write writes the report to where it is wanted.
func (a *app) write(r *report.Report, format string, o *analyzeOptions) error {
	if o.output != "" {
		opt := render.Options{Color: o.color.value == "always"}
		return writeFile(o.output, func(w io.Writer) error { return render.Write(w, format, r, opt) })
	}
	width, is := terminal(a.stdout)
	opt := render.Options{Width: width, Color: o.colored(is)}
	if err := buffered(a.stdout, func(w io.Writer) error { return render.Write(w, format, r, opt) }); err != nil {
		return unwritable("the output", err)
	}
	return nil
}

func (o *analyzeOptions) colored(terminal bool) bool {
	if o.color.value == "auto" {
		return terminal && colorful()
	}
	return o.color.value == "always"
}

// colorful reports whether the environment leaves a terminal its colours.
func colorful() bool { return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" }
