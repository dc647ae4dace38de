package detect

import (
	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// MTU compares packet sizes: those that pass with those that do not, and those
// of the two ends of a connection.
var MTU = add(analysis.Analyzer{
	Name: "mtu",
	Doc: "Do both ends use one path MTU, and does the network carry packets of that size?\n\n" +
		"The path MTU is what First and Middle packets carry, and what connection management agreed on; it is never\n" +
		"assumed. Sizes of packets are those of the IP packet (GRH included for RoCEv1), as links limit it. A request\n" +
		"has arrived where an answer says so, a READ response where the requester did not ask for it again.",
	Rules: mtuRules,
	New:   newMTU,
	Judge: judgeMTU,
})

type mtu struct {
	flows perRow[mtuFlow]
	asked perRow[map[mtuAsked]cmSeen] // of the rows of connection management
}

// mtuFlow is what a row carries, by size; parts that it does not carry are nil.
type mtuFlow struct {
	requests *requestSizes
	replies  *replySizes
	payloads []payloadSize // one, as a rule
	early    answer        // the answers that came before it was known what they answer
}

// mtuAsked is the path MTU that a REQ asks for its sender's queue pair. A row
// keeps at most mtuAskedMax of them.
type mtuAsked struct {
	qp  uint32
	mtu int
}

type cmSeen struct {
	frame uint64
	ns    int64
}

const mtuAskedMax = 4096

// payloadSize counts First and Middle packets of one payload: 256 to 4096.
type payloadSize struct{ bytes, n, firstFrame, lastFrame, firstNs, lastNs int64 }

func newMTU(*analysis.Config) analysis.Observer { return &mtu{} }

func (m *mtu) Observe(b *analysis.Batch) {
	m.flows.warm(b)
	for i := range b.CMs {
		c := &b.CMs[i]
		if id := b.Flow[c.Index]; id != analysis.NoFlow && c.CM.Attr == ib.AttrREQ && c.CM.PathMTU.Bytes() > 0 {
			m.negotiated(id, &b.Packets[c.Index], &c.CM)
		}
	}
	for i := range b.Streaks {
		r := &b.Streaks[i]
		p := b.Head(r)
		if !r.Counts() || p.QP <= 1 {
			continue
		}
		ps := b.Packets[r.From:r.To]
		switch {
		case p.Op.Is(ib.IsRequest) && (p.Op.Transport() == ib.RC || p.Op.Transport() == ib.XRC):
			m.request(ps, r)
		case p.Op.Is(ib.IsResponse):
			m.response(ps, r)
		}
		if p.Op.Is(ib.IsFirst | ib.IsMiddle) {
			m.flows.at(r.Flow).payload(ps, r)
		}
	}
}

func (m *mtu) negotiated(id analysis.FlowID, p *decode.Packet, c *ib.CM) {
	asked := m.asked.at(id)
	if *asked == nil {
		*asked = map[mtuAsked]cmSeen{} // once in a row's life
	}
	k := mtuAsked{c.QPN, c.PathMTU.Bytes()}
	if _, known := (*asked)[k]; !known && len(*asked) < mtuAskedMax {
		(*asked)[k] = cmSeen{p.Frame, p.Time}
	}
}

// payload takes packets of one message, of which the last one's payload may have
// any length.
func (f *mtuFlow) payload(ps []decode.Packet, r *analysis.Streak) {
	if ps[len(ps)-1].Op.Is(ib.IsLast) {
		ps = ps[:len(ps)-1]
	}
	if r.Even {
		f.count(ps)
		return
	}
	for i := range ps {
		f.count(ps[i : i+1])
	}
}

// count counts packets of the same payload, where that may be a path MTU.
func (f *mtuFlow) count(ps []decode.Packet) {
	p, last := &ps[0], &ps[len(ps)-1]
	if p.PayloadLen < 256 || p.PayloadLen > 4096 || p.PayloadLen&(p.PayloadLen-1) != 0 {
		return
	}
	x := f.payloadOf(int64(p.PayloadLen))
	if x.n == 0 {
		x.firstFrame, x.firstNs = int64(p.Frame), p.Time
	}
	x.n, x.lastFrame, x.lastNs = x.n+int64(len(ps)), int64(last.Frame), last.Time
}

func (f *mtuFlow) payloadOf(bytes int64) *payloadSize {
	for i := range f.payloads {
		if s := &f.payloads[i]; s.bytes == bytes {
			return s
		}
	}
	f.payloads = append(f.payloads, payloadSize{bytes: bytes}) // at most five
	return &f.payloads[len(f.payloads)-1]
}

func (m *mtu) request(ps []decode.Packet, r *analysis.Streak) {
	f, p := m.flows.at(r.Flow), &ps[0]
	if f.requests == nil {
		f.requests = &requestSizes{una: p.PSN, high: p.PSN, previous: p.PSN.Add(-1)} // once in a row's life
	}
	peer := m.flows.known(r.Peer)
	if peer == nil {
		f.requests.sentAll(ps, r)
		return
	}
	m.catchUp(f, peer)
	back := f.requests.sentAll(ps, r)
	switch replies := peer.replies; {
	case replies == nil:
	case r.Verdict&analysis.Resent == 0:
		replies.try = nil // the requester goes on
	case p.Op.Is(ib.AnsweredByRead):
		replies.askedAgain(p, back)
	}
}

// catchUp lets requests arrive whose answers came early.
func (m *mtu) catchUp(requests, answers *mtuFlow) {
	requests.requests.reach(answers.early)
	answers.early = answer{}
}

func (m *mtu) response(ps []decode.Packet, r *analysis.Streak) {
	f := m.flows.at(r.Flow)
	var requests *requestSizes
	if peer := m.flows.known(r.Peer); peer != nil && peer.requests != nil {
		m.catchUp(peer, f)
		requests = peer.requests
	}
	if f.replies == nil && ps[0].Op.Is(ib.IsReadResponse) {
		f.replies = new(replySizes) // once in a row's life
	}
	if r.Len() > 1 && r.Dense && r.Even {
		f.responses(ps, r, requests)
		return
	}
	for i := range ps {
		p := &ps[i]
		switch end, ok := reached(p); {
		case !ok:
		case r.Peer == analysis.NoFlow:
			f.early = answer{end, f.early.n + 1, p.Time}
		case requests != nil:
			requests.answered(p)
		}
		if p.Op.Is(ib.IsReadResponse) {
			f.replies.sent(p)
		}
	}
}

// responses takes packets of one response, one behind the other.
func (f *mtuFlow) responses(ps []decode.Packet, r *analysis.Streak, requests *requestSizes) {
	end, ns := ps[len(ps)-1].PSN.Add(1), ps[len(ps)-1].Time
	switch {
	case r.Peer == analysis.NoFlow:
		f.early = answer{end, f.early.n + r.Len(), ns}
	case requests == nil:
	case ps[0].PSN.Before(requests.una) || end.Sub(requests.high) > 1<<16:
		for i := range ps {
			requests.answered(&ps[i])
		}
	default:
		requests.reach(answer{end, r.Len(), ns})
	}
	f.replies.sentAll(ps)
}

// packetSize returns the bytes of the IP packet, however it was wrapped for the
// capture: what the MTU of a link is compared with.
func packetSize(p *decode.Packet) int64 {
	n := ib.BTHLen + int64(p.Op.Info().Len) + int64(p.PayloadLen) + int64(p.PadCnt) + ib.ICRCLen
	switch {
	case p.Version == 2 && !p.IPv6:
		n += 20 + 8
	case p.Version == 2:
		n += 40 + 8
	case p.Version == 1:
		n += 40
	}
	return n
}
