package analysis

import (
	"slices"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// window is what pairing knows of a row's requests at once, before their
// sequence has been followed.
type window struct {
	first, high ib.PSN   // high is one past the highest PSN sent
	number      uint32   // among the rows of the bundle with requests
	ordinal     uint32   // messages that have ended
	repeats     []repeat // the last ones while the row has no partner, oldest first
	// log holds the last messages, oldest first, while the row has no partner.
	log  []message
	gaps uint32 // how often so much was missing that nobody knows how many ended there
	last int64  // when the newest packet passed
	port uint16
	set  bool
	// asked is the newest packet that asked for an ACK, valid iff asks.
	asks  bool
	asked ib.PSN
}

// message is a request message as pairing looks at it.
type message struct {
	start, end ib.PSN // end is one past the last PSN seen of it
	kind       ib.Kind
	ordinal    uint32 // how many messages of the row end with it
	time       int64  // of the latest packet
	done       bool   // its last packet was seen
	atMost     bool   // a READ, which uses no more PSNs than that
	gaps       uint32 // how often the count of messages had got lost by then
	// prior is the newest packet before the latest one of the message that asked for an
	// ACK, valid iff follows: what answers both may have been kept back for that.
	prior   ib.PSN
	follows bool
}

const logMax = 64

// sawRequest keeps the window up to date. It reports whether the packet steps back.
func (r *row) sawRequest(p *decode.Packet) (back bool) {
	w := &r.win
	span, _ := r.span(p)
	end, atMost := p.PSN.Add(span), false
	if p.Op.Is(ib.IsRead) && p.HasExt && r.readMTU() == 0 {
		end, atMost = p.PSN.Add(packets(min(p.DMALen, 1<<23), leastMTU)), true
	}
	w.endsRead(p)
	if !w.set {
		b := r.bundle
		b.asked++
		b.asking[r.dir] = append(b.asking[r.dir], r)
		*w = window{set: true, number: b.asked, first: p.PSN, high: p.PSN, port: p.SrcPort}
	}
	fresh := !p.PSN.Before(w.high)
	back = !p.Op.Is(ib.AnsweredByRead) && (p.PSN.Add(1).Before(w.high) || !fresh && w.goesBack(p))
	if end.After(w.high) {
		w.high = end
	}
	w.port, w.last = p.SrcPort, p.Time
	switch {
	case r.peer != nil:
		w.log, w.repeats = nil, nil
	case fresh:
		w.note(p, end)
		w.log[len(w.log)-1].atMost = atMost
	}
	return back
}

// endsRead takes the PSN of a request for the end of the READ before it, whose length is
// not known. Another READ may ask for the rest of that once more.
func (w *window) endsRead(p *decode.Packet) {
	n := len(w.log)
	if n == 0 || p.Op.Is(ib.AnsweredByRead) {
		return
	}
	if m := &w.log[n-1]; m.atMost && m.end == w.high && p.PSN.After(m.start) && p.PSN.Before(m.end) {
		m.end, m.atMost, w.high = p.PSN, false, p.PSN
	}
}

// goOn does what sawRequest does for packets that go on with a message and whose
// PSNs follow each other, sent for the first time.
func (w *window) goOn(ps []decode.Packet, paired bool) {
	tail := &ps[len(ps)-1]
	w.port, w.last = tail.SrcPort, tail.Time
	if paired {
		w.log, w.repeats = nil, nil
	}
	for i := 0; i < len(ps) && !paired; i++ {
		w.note(&ps[i], ps[i].PSN.Add(1))
	}
	if end := tail.PSN.Add(1); end.After(w.high) {
		w.high = end
	}
}

// note adds a request packet that was sent the first time to the log.
func (w *window) note(p *decode.Packet, end ib.PSN) {
	w.passOver(p)
	if n := len(w.log); n > 0 && p.Op.Is(ib.IsMiddle|ib.IsLast) && w.log[n-1].end == p.PSN {
		w.log[n-1].end, w.log[n-1].time = end, p.Time
	} else {
		if n >= logMax {
			w.log = w.log[:copy(w.log, w.log[1:])]
		}
		w.log = append(w.log, message{start: p.PSN, end: end, kind: p.Op.Info().Kind, time: p.Time})
	}
	if p.Op.Is(ib.IsLast | ib.IsOnly) {
		w.ordinal++
	}
	m := &w.log[len(w.log)-1]
	m.prior, m.follows = w.asked, w.asks
	if p.AckReq && !p.Op.Is(ib.AnsweredByRead|ib.IsAtomic) {
		w.asked, w.asks = p.PSN, true
	}
	m.ordinal, m.gaps, m.done = w.ordinal, w.gaps, p.Op.Is(ib.IsLast|ib.IsOnly)
}

// passOver counts the message that ended with what is missing before a packet: one
// packet did where a message begins behind it. Of more nobody knows.
func (w *window) passOver(p *decode.Packet) {
	n := len(w.log)
	if n == 0 {
		return
	}
	switch missing := p.PSN.Sub(w.log[n-1].end); {
	case missing == 1 && p.Op.Is(ib.IsFirst|ib.IsOnly):
		w.ordinal++
	case missing > 1:
		w.gaps++
	}
}

// ended is how many messages of the row end at psn or before, which lies in the
// message.
func (m *message) ended(psn ib.PSN) uint32 {
	if m.done && psn != m.end.Add(-1) {
		return m.ordinal - 1
	}
	return m.ordinal
}

// skippedBehind reports whether the row did not go on, from some time on, where it had
// stopped, as far as the log tells.
func (w *window) skippedBehind(t int64) bool {
	i := slices.IndexFunc(w.log, func(m message) bool { return m.time >= t })
	return i == 0 || i > 0 && w.log[i].start != w.log[i-1].end
}

// find returns the logged message that has psn, or nil.
func (w *window) find(psn ib.PSN) *message {
	for i := len(w.log) - 1; i >= 0; i-- {
		if m := &w.log[i]; !psn.Before(m.start) && psn.Before(m.end) {
			return m
		}
	}
	return nil
}
