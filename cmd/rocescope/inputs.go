package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/capture"
)

// inputs are the captures of one run, all of which could be opened.
type inputs struct {
	list    []*input
	refused int // how many could not be opened
}

// input is one capture. As a source it never fails: an error of the disk or
// the network ends it like the end of the file, and is kept.
type input struct {
	name   string
	file   *capture.File
	size   int64 // of the file, as it lies on the disk; 0 unknown
	wire   int64 // bytes of the frames read so far, as they were on the wire
	failed error // what ended the reading, other than the end
}

// open opens the captures named. Those that cannot be opened it tells of; it
// fails where none can.
func (a *app) open(ctx context.Context, names []string) (*inputs, error) {
	if len(names) == 0 {
		return nil, usage("rocescope analyze FILE, or - for standard input", "no capture was named")
	}
	if i := slices.Index(names, "-"); i >= 0 && slices.Contains(names[i+1:], "-") {
		return nil, usage("", "standard input is named twice")
	}
	ins := &inputs{}
	var refused []*failure
	for _, name := range names {
		in, err := a.openOne(ctx, name)
		if err != nil {
			refused = append(refused, unopened(name, err))
			continue
		}
		ins.list = append(ins.list, in)
	}
	ins.refused = len(refused)
	var err error
	if len(ins.list) == 0 { // the last message is the error's own
		err, refused = refused[len(refused)-1], refused[:len(refused)-1]
	}
	for _, f := range refused {
		a.tell(f.message, f.hint)
	}
	return ins, err
}

func (a *app) openOne(ctx context.Context, name string) (*input, error) {
	in := &input{name: name}
	var opts []capture.Option
	if name == "-" {
		if _, is := terminal(a.stdin); is {
			return nil, errTerminal
		}
		opts = append(opts, capture.Stdin(until(ctx, a.stdin)))
	} else if st, err := os.Stat(name); err == nil {
		if st.IsDir() {
			return nil, errDirectory
		}
		in.size = st.Size()
	}
	var err error
	in.file, err = capture.Open(name, opts...)
	return in, err
}

// Read fills f with the next frame, or returns io.EOF.
func (in *input) Read(f *decode.Frame) error {
	err := in.file.Read(f)
	if err == nil {
		in.wire += int64(f.Len)
		return nil
	}
	if err != io.EOF {
		in.failed = err
	}
	return io.EOF
}

// Interface describes one of the capture's interfaces.
func (in *input) Interface(n uint16) (capture.InterfaceInfo, bool) { return in.file.Interface(n) }

// ReadSome fills frames with the next ones, or returns io.EOF.
func (in *input) ReadSome(frames []decode.Frame) (int, error) {
	n, err := in.file.ReadSome(frames)
	for i := range frames[:n] {
		in.wire += int64(frames[i].Len)
	}
	if err != nil && err != io.EOF {
		in.failed, err = err, io.EOF
	}
	return n, err
}

// source reads all of the captures in the order of time.
func (ins *inputs) source() analysis.Source {
	if len(ins.list) == 1 {
		return ins.list[0]
	}
	var all []capture.Source
	for _, in := range ins.list {
		all = append(all, in)
	}
	return capture.Merge(all...)
}

func (ins *inputs) close() {
	for _, in := range ins.list {
		in.file.Close()
	}
}

// captures describes what has been read.
func (ins *inputs) captures() []report.Capture {
	var out []report.Capture
	for _, in := range ins.list {
		out = append(out, in.describe())
	}
	return out
}

func (in *input) describe() report.Capture {
	i := in.file.Info()
	c := report.Capture{
		Name: i.Name, Format: i.Format, LinkTypes: []string{},
		Frames: int64(i.Frames), Bytes: in.wire, FirstNs: i.First, LastNs: i.Last,
		Truncated: int64(i.Truncated), Damaged: in.damaged(), Skipped: i.Skipped, Parts: int64(i.Parts),
	}
	for _, f := range i.Interfaces {
		if name := f.Link.String(); !slices.Contains(c.LinkTypes, name) {
			c.LinkTypes = append(c.LinkTypes, name)
		}
		c.SnapLen = max(c.SnapLen, int64(f.SnapLen))
		// Both tell of the same losses: in all, and frame by frame.
		c.Dropped += int64(max(f.Dropped+f.OSDropped, f.LostBefore))
	}
	return c
}

// damaged says what is broken in the capture and where, as far as it has been
// read; empty where nothing is.
func (in *input) damaged() string {
	var text string
	if list := in.file.Damage(); len(list) > 0 {
		d := list[0]
		text = fmt.Sprintf("%s, at byte %d, after frame %d", d.What, d.Offset, d.Frame)
		if more := in.file.Info().Damages - 1; more > 0 {
			text += fmt.Sprintf("; and %s more, %s skipped in all", report.Counted(int64(more), "damaged place"), report.Bytes(in.file.Info().Skipped))
		}
	}
	if in.failed != nil && !interrupted(in.failed) {
		if text != "" {
			text += "; "
		}
		text += "reading failed: " + in.failed.Error()
	}
	return text
}

// tellDamage tells the user what is broken in the captures, a line for each.
func (a *app) tellDamage(ins *inputs) (damaged bool) {
	for _, in := range ins.list {
		if text := in.damaged(); text != "" {
			damaged = true
			a.tell(fmt.Sprintf("%s is damaged: %s", called(in.name), text), "")
		}
	}
	return damaged
}
