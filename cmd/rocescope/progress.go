package main

import (
	"fmt"
	"io"
	"time"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
)

// progress is a source that tells, on a terminal, how far its reading has got.
type progress struct {
	analysis.Source
	ins    *inputs
	w      io.Writer
	frames int64
	start  time.Time
	shown  time.Time
}

const (
	progressPatience = time.Second            // shorter work needs none
	progressInterval = 200 * time.Millisecond //
	progressCheck    = 4096                   // frames between two looks at the clock
)

// watched returns the captures as one source. Where standard error is a
// terminal it tells how far it has got; done takes that line away.
func (a *app) watched(ins *inputs) (src analysis.Source, done func()) {
	if _, is := terminal(a.stderr); !is {
		return ins.source(), func() {}
	}
	p := &progress{Source: ins.source(), ins: ins, w: a.stderr, start: time.Now()}
	return p, p.clear
}

// Read hands out the next frame.
func (p *progress) Read(f *decode.Frame) error {
	if p.frames++; p.frames%progressCheck == 0 {
		now := time.Now()
		if now.Sub(p.start) > progressPatience && now.Sub(p.shown) > progressInterval {
			p.shown = now
			fmt.Fprintf(p.w, "\r\x1b[K%s", p.line(now))
		}
	}
	return p.Source.Read(f)
}

func (p *progress) line(now time.Time) string {
	var read, size int64
	known := true
	for _, in := range p.ins.list {
		read += in.file.Info().InputBytes
		size += in.size
		known = known && in.size > 0
	}
	text := fmt.Sprintf("read %s frames, %s", report.Short(p.frames), report.FrameRate(p.frames, now.Sub(p.start).Nanoseconds()))
	if known {
		text = fmt.Sprintf("%s of %s, %s", report.Share(min(read, size), size), report.Bytes(size), text)
	}
	return text
}

func (p *progress) clear() {
	if !p.shown.IsZero() {
		io.WriteString(p.w, "\r\x1b[K")
	}
}
