package synth_test

import (
	"io"
	"slices"
	"testing"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// wire is a capture as the rules see it.
type wire struct {
	tap     byte // the host on whose link it was taken, see hostByte; 0 for none
	packets []decode.Packet
	cm      map[uint64]ib.CM // by the number of the frame
}

// side is where the tap lies, seen from who sends.
type side int

const (
	between side = iota
	atSender
	atReceiver
)

// flow is what one queue pair sends to another. Only datagrams name both.
type flow struct {
	src, dst [16]byte
	qp, from uint32
}

func flowOf(p *decode.Packet) flow { return flow{p.Src, p.Dst, p.QP, p.SrcQP} }

// hostByte returns the last byte of an address, by which all captures here number
// their hosts.
func hostByte(addr [16]byte) byte { return addr[15] }

func (w *wire) side(p *decode.Packet) side {
	switch w.tap {
	case hostByte(p.Src):
		return atSender
	case hostByte(p.Dst):
		return atReceiver
	}
	return between
}

// stream is what one queue pair asks of another, and what that answers.
type stream struct {
	flow
	tap     side             // seen from who asks
	packets []*decode.Packet // in the order of capture
	answers []flow           // who the responses are from: one, where all is well
	mtu     uint32           // what First and Middle hold; the largest where there are none
	told    bool             // that there are some
}

// streams pairs requests with their responses. What has a bad ICRC is left out:
// its receiver drops it as if it were lost.
func (w *wire) streams() []*stream {
	var asks, answers []*stream
	at := map[flow]*stream{}
	for i := range w.packets {
		p := &w.packets[i]
		list := &asks
		if p.Op.Is(ib.IsResponse) {
			list = &answers
		} else if !p.Op.Is(ib.IsRequest) {
			continue
		}
		if p.ICRC != decode.ICRCBad {
			w.file(p, list, at)
		}
	}
	for _, a := range answers {
		if s := explains(asks, a); s != nil {
			s.join(a)
		}
	}
	for _, s := range asks {
		s.learnMTU()
	}
	return asks
}

// file adds a packet to its stream. A queue pair is asked and answered in the
// same flow, so the key tells the two apart by what no address has.
func (w *wire) file(p *decode.Packet, list *[]*stream, at map[flow]*stream) {
	key := flowOf(p)
	if p.Op.Is(ib.IsResponse) {
		key.from = 1 << 31
	}
	s := at[key]
	if s == nil {
		s = &stream{flow: flowOf(p), tap: w.side(p)}
		at[key] = s
		*list = append(*list, s)
	}
	s.packets = append(s.packets, p)
}

// explains returns the requests that most of the responses answer, by PSN; of
// equals those of the same source port.
func explains(asks []*stream, answers *stream) (best *stream) {
	most := 0
	for _, s := range asks {
		if s.src != answers.dst || s.dst != answers.src || s.packets[0].Op.Transport() != ib.RC {
			continue
		}
		n := 2 * s.answeredBy(answers.packets)
		if n > 0 && s.packets[0].SrcPort == answers.packets[0].SrcPort {
			n++
		}
		if n > most {
			most, best = n, s
		}
	}
	return best
}

func (s *stream) answeredBy(responses []*decode.Packet) (n int) {
	used := map[ib.PSN]bool{}
	for _, p := range s.packets {
		if p.Op.Is(ib.IsRequest) {
			for i := range int32(p.DMALen/256) + 1 { // more than it uses does no harm
				used[p.PSN.Add(i)] = true
			}
		}
	}
	for _, p := range responses {
		if used[p.PSN] {
			n++
		}
	}
	return n
}

func (s *stream) join(answers *stream) {
	s.answers = append(s.answers, answers.flow)
	s.packets = append(s.packets, answers.packets...)
	slices.SortStableFunc(s.packets, func(a, b *decode.Packet) int { return int(a.Frame) - int(b.Frame) })
}

func (s *stream) learnMTU() {
	s.mtu = 4096
	for _, p := range s.packets {
		if p.Op.Is(ib.IsFirst | ib.IsMiddle) {
			s.mtu, s.told = p.PayloadLen, true
			return
		}
	}
}

// next returns the PSN behind a request: a READ uses one for each response.
func (s *stream) next(p *decode.Packet) ib.PSN {
	if !p.Op.Is(ib.IsRead) || p.DMALen == 0 {
		return p.PSN.Add(1)
	}
	return p.PSN.Add(int32((p.DMALen-1)/s.mtu + 1))
}

// first returns the request of the lowest PSN, which need not be captured first.
func (s *stream) first() (first *decode.Packet) {
	for _, p := range s.packets {
		if p.Op.Is(ib.IsRequest) && (first == nil || p.PSN.Before(first.PSN)) {
			first = p
		}
	}
	return first
}

// peers names the flow of the other direction for each.
func (w *wire) peers() map[flow]flow {
	out := map[flow]flow{}
	for _, s := range w.streams() {
		for _, a := range s.answers {
			out[s.flow], out[a] = a, s.flow
		}
	}
	return out
}

// frames is where they come from: a file, or the simulator.
type frames interface{ Read(*decode.Frame) error }

// newWire decodes a capture. What is no RoCE is left out.
func newWire(t *testing.T, tap byte, in frames) *wire {
	t.Helper()
	w := &wire{tap: tap, cm: map[uint64]ib.CM{}}
	var d decode.Decoder
	var f decode.Frame
	for {
		if err := in.Read(&f); err == io.EOF {
			return w
		} else if err != nil {
			t.Fatal(err)
		}
		var p decode.Packet
		if d.Decode(&f, &p) == decode.RoCE {
			w.packets = append(w.packets, p)
			w.manage(&p, &f)
		}
	}
}

func (w *wire) manage(p *decode.Packet, f *decode.Frame) {
	if p.QP == ib.GSIQP && p.HasExt {
		if m, ok := ib.ParseCM(f.Data[p.PayloadOff:min(int(p.PayloadOff)+int(p.PayloadLen), len(f.Data))]); ok {
			w.cm[p.Frame] = m
		}
	}
}

// withoutCopies leaves out what a mirror copied a second time. Every packet that
// is sent again has another IPv4 ID.
func (w *wire) withoutCopies() *wire {
	seen := map[decode.Packet]bool{}
	out := *w
	out.packets = nil
	for _, p := range w.packets {
		key := p
		key.Time, key.Frame, key.TTL = 0, 0, 0
		if !seen[key] {
			out.packets = append(out.packets, p)
		}
		seen[key] = true
	}
	return &out
}
