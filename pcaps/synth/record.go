package synth

import (
	"cmp"
	"slices"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// recorder keeps, for one tap, what became of each packet that passed there or
// should have. What of it can be known from the capture is told at the end.
type recorder struct {
	world      *world
	inexact    bool // times are not those of the wire
	breaks     []interval
	records    map[*packet]*record
	order      []*record // as their packets were sent
	frames     int       // captured so far, copies aside
	pauses     int64
	lost       []Lost         // pause frames
	introduced map[*conn]bool // by connection management, in the capture
	// shortest is the round trip by those who take it; nil not looked for.
	shortest map[hosts]int64
}

// record is what became of one packet, as seen from a tap.
type record struct {
	packet   *packet
	passes   bool // its way leads by the tap
	passed   bool // it came as far as the tap
	outside  bool // when the capture did not run
	early    bool // that is, before it began
	captured bool
	place    int   // among what was captured, from 1, by the capture's clock
	passing  int   // the same by the true time
	time     int64 // when it was
	bytes    int
	copies   int
	ce       bool
	damaged  bool
	lost     bool // somewhere
}

func newRecorder(w *world, inexact bool) *recorder {
	return &recorder{world: w, inexact: inexact, records: map[*packet]*record{}, introduced: map[*conn]bool{}}
}

// sent notes a packet that leaves its host.
func (r *recorder) sent(p *packet, passes bool) {
	x := &record{packet: p, passes: passes}
	r.records[p] = x
	r.order = append(r.order, x)
}

// captured notes a packet of which the capture holds the frame, with some further
// copies, and returns its record, which has no time yet.
func (r *recorder) captured(p *packet, bytes, copies int) *record {
	x := r.records[p]
	r.frames++
	x.passed, x.captured, x.passing = true, true, r.frames
	x.bytes, x.copies, x.ce, x.damaged = bytes, copies, p.ecn == decode.CE, p.damaged
	return x
}

// missed notes a packet that passed and is not in the capture.
func (r *recorder) missed(p *packet) { r.records[p].passed = true }

// outside notes a packet that passed while the capture did not run, early before it
// began.
func (r *recorder) outside(p *packet, early bool) {
	x := r.records[p]
	x.passed, x.outside, x.early = true, true, early
}

// dropped notes a packet that will not arrive.
func (t *tap) dropped(p *packet) { t.truth.records[p].lost = true }

// before reports whether it was lost on its way to the tap.
func (x *record) before() bool { return x.lost && !x.passed && x.passes }

// behind reports whether it was lost between the tap and its receiver.
func (x *record) behind() bool { return x.lost && x.passed }

// unseen reports whether it arrived, though the capture does not hold it: the
// capture missed it, or it went another way.
func (x *record) unseen() bool { return !x.captured && !x.before() && !x.outside }

// truth tells what happened.
func (r *recorder) truth() Truth {
	t := Truth{PauseFrames: r.pauses}
	r.sort()
	c := newCounter()
	for _, x := range r.order {
		if x.captured {
			c.seen(x, r.world.scenario.File.SnapLen)
		}
	}
	r.countMissedReads()
	streams := r.streams()
	rivals(streams)
	for _, s := range streams {
		s.judge(c)
		if s.answered() {
			p := s.records[0].packet
			c.row(p).BothWays = true
			c.rowBack(p).BothWays = true
		}
	}
	r.introduce()
	noteTwins(c, streams)
	t.Rows = c.sorted()
	t.Connections = r.exchanges()
	t.Lost = r.lostSignals()
	t.MustFind = r.due(&t)
	return t
}

// countMissedReads counts, for each queue pair, the READs that came as far as the
// tap or beyond and are not in the capture.
func (r *recorder) countMissedReads() {
	for _, x := range r.order {
		if p := x.packet; p.kind == isRequest && p.asker != nil {
			p.asker.missedReads = 0
		}
	}
	for _, x := range r.order {
		if p := x.packet; p.kind == isRequest && p.asker != nil && p.bth.Opcode.Is(ib.IsRead) && x.unseen() {
			p.asker.missedReads++
		}
	}
}

// sort gives captured packets their place by the capture's clock.
func (r *recorder) sort() {
	var captured []*record
	for _, x := range r.order {
		if x.captured {
			captured = append(captured, x)
		}
	}
	slices.SortFunc(captured, func(a, b *record) int { return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.passing, b.passing)) })
	for i, x := range captured {
		x.place = i + 1
	}
}

// streams returns what each queue pair sent of a kind, where any of it was
// captured.
func (r *recorder) streams() []*stream {
	byKey := map[streamKey]*stream{}
	var out []*stream
	for _, x := range r.order {
		k := streamKey{x.packet.asker, x.packet.kind}
		if k.asker == nil || k.kind != isRequest && k.kind != isReadResponse {
			continue
		}
		if byKey[k] == nil {
			byKey[k] = &stream{kind: k.kind, recorder: r}
			out = append(out, byKey[k])
		}
		s := byKey[k]
		s.records = append(s.records, x)
		s.captured = s.captured || x.captured
	}
	for _, x := range r.order {
		if p := x.packet; p.asker != nil && p.kind != isRequest && x.captured {
			if s := byKey[streamKey{p.asker, isRequest}]; s != nil {
				s.answers = append(s.answers, x)
			}
			if s := byKey[streamKey{p.asker, isReadResponse}]; s != nil && p.kind != isReadResponse {
				s.answers = append(s.answers, x)
			}
		}
		if p := x.packet; p.kind == isRequest && x.captured {
			if s := byKey[streamKey{p.asker, isReadResponse}]; s != nil {
				s.requests = append(s.requests, x)
				if p.bth.Opcode.Is(ib.IsRead) {
					s.questions = append(s.questions, x)
				}
			}
		}
	}
	return out
}

type streamKey struct {
	asker *endpoint
	kind  kind
}
