package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/decode/roce"
	"github.com/spf13/cobra"
)

// packetsOptions are the flags of packets.
type packetsOptions struct {
	files  []string
	port   port
	count  natural // lines at most; 0 for all
	only   []string
	layers bool
	format choice
	fields []string
}

func (a *app) packetsCommand() *cobra.Command {
	o := packetsOptions{port: 4791, format: choice{"text", []string{"text", "fields", "json"}}}
	cmd := &cobra.Command{
		Use:   "packets [flags] FILE…",
		Short: "Print a line a packet, with what the analysis says of it",
		Long: `packets prints every frame on a line of its own: number, seconds since the first
frame, addresses, opcode, destination queue pair, PSN, length, the fields that
the opcode brings, and in brackets the flags of the analysis. An arrow in a flag
points to the frame that decided: [lost_downstream →#812].

A verdict may need frames that come much later. Lines wait for it, but for no
more than 65,536 frames (4,096 with -V).

--only takes words, a * in which stands for anything. A frame is printed when
any of them fits:
  a flag      lost_upstream, 'retransmission*', or roce.analysis.lost_upstream
  a kind      ` + strings.Join(kindNames(), ", ") + `
  a rule      loss.downstream, 'rnr.*': the frames that a finding shows as its
              evidence; the capture is read twice for it

-T fields prints the fields named with -e, separated by tabs, by Wireshark's
names and in its formats:
` + fieldHelp(),
		Example: `  rocescope packets trace.pcapng
  rocescope packets trace.pcapng --only 'retransmission*,lost_*'
  rocescope packets trace.pcapng -c 1 -V
  rocescope packets trace.pcapng -T fields -e frame.number -e infiniband.bth.psn -e roce.analysis.flags`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.packets(cmd.Context(), &o, args) },
	}
	f := cmd.Flags()
	readFlags(cmd, &o.files, &o.port)
	f.VarP(&o.count, "count", "c", "print no more than N packets")
	f.Lookup("count").DefValue = ""
	f.StringSliceVar(&o.only, "only", nil, "print only frames with one of these `FLAG,KIND,RULE`")
	f.BoolVarP(&o.layers, "layers", "V", false, "print all the layers of each frame")
	f.VarP(&o.format, "type", "T", "how to print")
	f.StringSliceVarP(&o.fields, "field", "e", nil, "print the field `NAME`, with -T fields or -T json")
	complete(cmd, "type", o.format.from)
	complete(cmd, "field", fieldNames())
	return cmd
}

// packets is the command.
func (a *app) packets(ctx context.Context, o *packetsOptions, args []string) error {
	names := slices.Concat(o.files, args)
	fields, err := o.chosenFields()
	if err != nil {
		return err
	}
	only, err := parseOnly(o.only)
	if err != nil {
		return err
	}
	if err := a.findEvidence(ctx, only, o, names); err != nil {
		return err
	}
	ins, err := a.open(ctx, names)
	if err != nil {
		return err
	}
	defer ins.close()
	out := bufio.NewWriterSize(a.stdout, 64<<10)
	w := &window{hold: holdFrames, only: only, most: int(o.count), print: o.printer(out, fields)}
	if o.layers {
		w.hold = holdLayers
	}
	if !only.flags() && !o.layers && o.format.value == "fields" && !slices.ContainsFunc(fields, field.ofAnalysis) {
		w.hold = 0
	}
	err = w.run(ctx, ins.source(), uint16(o.port))
	if ferr := out.Flush(); err == nil && ferr != nil {
		err = unwritable("the output", ferr)
	}
	a.tellDamage(ins)
	if w.late > 0 {
		a.tell(fmt.Sprintf("%d verdicts came after their frame had to be printed, and are missing above", w.late),
			"rocescope analyze counts them all")
	}
	return err
}

// chosenFields checks what was asked for together with the fields.
func (o *packetsOptions) chosenFields() ([]field, error) {
	form := o.format.value
	switch {
	case o.layers && form != "text":
		return nil, usage("", "-V and -T %s are two ways to print; choose one", form)
	case len(o.fields) > 0 && form == "text":
		return nil, usage("add -T fields or -T json", "-e names a field, which text does not print")
	case len(o.fields) == 0 && form == "fields":
		return nil, usage("name some, as in -e frame.number -e infiniband.bth.psn", "-T fields needs the names of fields")
	}
	if len(o.fields) == 0 {
		return fields, nil
	}
	return fieldsByName(o.fields)
}

// printer returns what prints one frame.
func (o *packetsOptions) printer(out *bufio.Writer, fields []field) func(*line) error {
	switch {
	case o.format.value == "fields":
		return func(l *line) error { return writeFields(out, fields, l) }
	case o.format.value == "json":
		return func(l *line) error { return writeJSON(out, fields, len(o.fields) > 0, l) }
	case o.layers:
		if o.port != roce.Port {
			roce.RegisterPort(uint16(o.port))
		}
		return func(l *line) error { return writeLayers(out, l) }
	}
	var t text
	return func(l *line) error {
		_, err := io.WriteString(out, t.line(l))
		return err
	}
}

// findEvidence analyzes the captures where --only names rules, to learn which
// frames prove their findings.
func (a *app) findEvidence(ctx context.Context, only *only, o *packetsOptions, names []string) error {
	if len(only.rules) == 0 {
		return nil
	}
	if slices.Contains(names, "-") {
		return usage("save it to a file first, or name flags instead", "frames can be chosen by rule only where a capture can be read twice, which standard input cannot")
	}
	ins, err := a.open(ctx, names)
	if err != nil {
		return err
	}
	defer ins.close()
	cfg := analysis.Defaults(1)
	cfg.Port = uint16(o.port)
	r, err := a.judged(ctx, ins, cfg)
	if err != nil {
		return err
	}
	if unmet := only.take(r.Findings); len(unmet) > 0 {
		var found []string
		for _, f := range r.Findings {
			found = append(found, f.Rule)
		}
		slices.Sort(found)
		hint := "there are no findings at all"
		if found = slices.Compact(found); len(found) > 0 {
			hint = "there are findings of " + strings.Join(found, ", ")
		}
		a.tell("no finding of "+strings.Join(unmet, ", "), hint)
	}
	return nil
}
