package main

import (
	"fmt"
	"slices"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// line is a frame about to be printed.
type line struct {
	packet decode.Packet
	link   decode.LinkType
	data   []byte // the frame, kept only where layers are printed
	cm     string // the message of connection management it carries, in words
	flags  []flagged
	start  int64 // time of the first frame of all
}

// flagged is what the analysis says of a frame.
type flagged struct {
	analysis.Event
	plain bool // the frame itself says so, without any other
}

// decider returns the other frame that the flag points to; 0 for none.
func (f *flagged) decider() uint64 {
	if f.Ref == f.Frame {
		return 0
	}
	return f.Ref
}

// flagItself adds the flags that need no other frame.
func (l *line) flagItself() {
	p := &l.packet
	if p.Status != decode.RoCE {
		return
	}
	if p.HasSyndrome() {
		switch p.Syndrome.Type() {
		case ib.NAK:
			if p.Syndrome&0x7F == ib.NAKPSNSequence {
				l.add(analysis.SequenceNAK)
			} else {
				l.add(analysis.FatalNAK)
			}
		case ib.RNRNAK:
			l.add(analysis.RNRNAK)
		}
	}
	if p.Op == ib.CNP {
		l.add(analysis.CNPSeen)
	}
	if p.ECN == decode.CE {
		l.add(analysis.CEMark)
	}
	if p.ICRC == decode.ICRCBad {
		l.add(analysis.BadICRC)
	}
}

// add adds a plain flag, unless an event has set it before.
func (l *line) add(k analysis.EventKind) {
	for i := range l.flags {
		if l.flags[i].Kind == k {
			l.flags[i].plain = true
			return
		}
	}
	l.flags = append(l.flags, flagged{analysis.Event{Kind: k, Count: 1, Frame: l.packet.Frame, PSN: l.packet.PSN}, true})
}

// flagNames names the flags of a frame, each once.
func (l *line) flagNames() []string {
	var names []string
	for i := range l.flags {
		if name := l.flags[i].Kind.String(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// flagTexts are the flags for a person: a number where one stands for several
// packets, an arrow to the frame that decided. What the fields say already is
// left out.
func (l *line) flagTexts() []string {
	var out []string
	for i := range l.flags {
		f := &l.flags[i]
		if f.plain {
			continue
		}
		s := f.Kind.String()
		if f.Count > 1 {
			s += fmt.Sprintf(" ×%d", f.Count)
		}
		if n := f.decider(); n != 0 {
			s += fmt.Sprintf(" →#%d", n)
		}
		out = append(out, s)
	}
	return out
}
