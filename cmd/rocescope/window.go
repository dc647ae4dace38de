package main

import (
	"context"
	"sync"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/decode"
)

// How many frames wait for their verdicts. Where the bytes of each are kept
// too, fewer do.
const (
	holdFrames = 65_536
	holdLayers = 4_096
)

// window holds the latest frames back until their verdicts are likely known,
// and prints them in order.
type window struct {
	hold  int // frames held back; 0 prints at once, without an analysis
	only  *only
	most  int // lines to print; 0 for all
	print func(*line) error

	lines   []line // those held back; the numbers of their frames run without a gap
	first   int    // index of the oldest one
	printed int
	late    int // verdicts on frames that had been printed
	start   int64
	started bool
	err     error
	stop    context.CancelFunc
	bytes   bytesOf
}

// run prints src to its end, or until enough was printed.
func (w *window) run(ctx context.Context, src analysis.Source, port uint16) error {
	ctx, w.stop = context.WithCancel(ctx)
	defer w.stop()
	if w.hold == 0 {
		return w.plain(ctx, src, port)
	}
	if w.hold == holdLayers {
		w.bytes.Source, src = src, &w.bytes
	}
	cfg := analysis.Defaults(1)
	cfg.Port, cfg.Tap = port, w.take
	_, err := analysis.Run(ctx, src, nil, cfg)
	w.release(0)
	if w.err == nil && !interrupted(err) {
		w.err = err
	}
	return w.err
}

// plain decodes and prints, where nobody asks for a verdict.
func (w *window) plain(ctx context.Context, src analysis.Source, port uint16) error {
	d := decode.Decoder{Port: port}
	var f decode.Frame
	l := new(line)
	for ctx.Err() == nil && src.Read(&f) == nil { // an input's source ends with io.EOF alone
		*l = line{flags: l.flags[:0]}
		d.Decode(&f, &l.packet)
		w.put(l)
	}
	return w.err
}

// take is the tap: it sees every frame in order, and every event.
func (w *window) take(b *analysis.Batch) {
	for i := range b.Packets {
		l := line{packet: b.Packets[i]}
		if w.bytes.Source != nil {
			l.data, l.link = w.bytes.next()
		}
		w.lines = append(w.lines, l)
	}
	for i := range b.CMs {
		w.lines[len(w.lines)-len(b.Packets)+b.CMs[i].Index].cm = management(&b.CMs[i].CM)
	}
	for i := range b.Events {
		w.flag(&b.Events[i])
	}
	w.release(w.hold)
}

// flag hangs an event on its frame.
func (w *window) flag(e *analysis.Event) {
	if e.Kind.Measure() {
		return // every second frame has one
	}
	if e.Count < 0 {
		w.takeBack(e)
		return
	}
	if l := w.at(e.Frame); l != nil {
		l.flags = append(l.flags, flagged{Event: *e})
	} else if w.most == 0 || w.printed < w.most {
		w.late++
	}
}

// at returns a frame that is held back, or nil.
func (w *window) at(frame uint64) *line {
	held := w.lines[w.first:]
	if len(held) == 0 || frame < held[0].packet.Frame || frame-held[0].packet.Frame >= uint64(len(held)) {
		return nil
	}
	return &held[frame-held[0].packet.Frame]
}

// takeBack undoes an earlier event: one that stands at the frame the new one
// points back to, or points there itself for the same PSN.
func (w *window) takeBack(e *analysis.Event) {
	for frame := e.Frame; ; frame-- {
		l := w.at(frame)
		if l == nil {
			return // printed already, or never flagged
		}
		for i := range l.flags {
			f := &l.flags[i]
			if f.Kind != e.Kind || f.Flow != e.Flow || f.Frame != e.Ref && (f.Ref != e.Ref || f.PSN != e.PSN) {
				continue
			}
			if f.Count += e.Count; f.Count <= 0 {
				l.flags = append(l.flags[:i], l.flags[i+1:]...)
			}
			return
		}
	}
}

// release prints the oldest frames until only so many are held.
func (w *window) release(hold int) {
	for len(w.lines)-w.first > hold {
		w.put(&w.lines[w.first])
		w.lines[w.first] = line{}
		w.first++
	}
	if w.first > len(w.lines)/2 { // keep the memory, not the past
		n := copy(w.lines, w.lines[w.first:])
		clear(w.lines[n:])
		w.lines, w.first = w.lines[:n], 0
	}
}

// put prints one frame, if it is wanted.
func (w *window) put(l *line) {
	if !w.started {
		w.started, w.start = true, l.packet.Time
	}
	if w.err != nil || w.most > 0 && w.printed >= w.most {
		return
	}
	l.flagItself()
	if !w.only.fits(l) {
		return
	}
	l.start = w.start
	if err := w.print(l); err != nil {
		w.err = unwritable("the output", err)
		w.stop()
	}
	if w.printed++; w.printed == w.most {
		w.stop()
	}
}

// bytesOf is a source that keeps the bytes of each frame until the tap, which
// runs in a goroutine of its own, comes to it.
type bytesOf struct {
	analysis.Source
	mu    sync.Mutex
	queue []line
}

// Read hands out the next frame and keeps a copy.
func (b *bytesOf) Read(f *decode.Frame) error {
	err := b.Source.Read(f)
	if err == nil {
		data := append([]byte{}, f.Data...)
		b.mu.Lock()
		b.queue = append(b.queue, line{data: data, link: f.Link})
		b.mu.Unlock()
	}
	return err
}

// next returns the oldest frame kept, once.
func (b *bytesOf) next() ([]byte, decode.LinkType) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.queue[0]
	b.queue = b.queue[1:]
	return l.data, l.link
}
