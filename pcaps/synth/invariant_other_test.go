package synth_test

import (
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// inFlight is how long after a fatal NAK passed the sender's tap the sender may
// not know of it: software takes its time.
const inFlight = 1e6

// nothingFollowsFatal: the queue pair that sends it is dead, and so is the other
// once the NAK arrived, which only a tap at that side tells. Both neither ask nor
// answer any more.
func nothingFollowsFatal(w *wire) (out violations) {
	dead := map[flow]*decode.Packet{}
	peers := w.peers()
	for i := range w.packets {
		p := &w.packets[i]
		end := dead[flowOf(p)]
		switch {
		case p.Op.Transport() != ib.RC:
		case end != nil && (end.Src == p.Src || w.side(p) == atSender && p.Time-end.Time > inFlight):
			out.add(p, "%v is sent %d ns after %v", p.Op, p.Time-end.Time, end.Syndrome)
		case isFatal(p):
			dead[flowOf(p)], dead[peers[flowOf(p)]] = p, p
		}
	}
	return out
}

func cnpsHaveTheirShape(w *wire) (out violations) {
	for i := range w.packets {
		p := &w.packets[i]
		if p.Op != ib.CNP {
			continue
		}
		if !p.BECN || p.FECN || p.AckReq || p.PSN != 0 || p.PadCnt != 0 || p.PKey != 0xFFFF {
			out.add(p, "this is no header of a CNP: %+v", *p)
		}
		if p.Len != cnpLen(p) {
			out.add(p, "a CNP of %d bytes, not %d", p.Len, cnpLen(p))
		}
	}
	return out
}

// cnpLen is that of the frame: 32 bytes of InfiniBand behind the other headers.
func cnpLen(p *decode.Packet) uint32 {
	n := uint32(14 + 20 + 8 + 32)
	if p.Tagged {
		n += 4
	}
	if p.IPv6 {
		n += 20
	}
	if p.Version == 1 { // a GRH, and no UDP
		n -= 8
	}
	return n
}

// cnpsAnswerMarks needs the tap at the side that sends them. A CNP goes to the
// queue pair that a marked packet came from. Of unreliable connections the wire
// does not tell that, and any of the host will do.
func cnpsAnswerMarks(w *wire) (out violations) {
	marked := map[flow]bool{}
	peers := w.peers()
	for i := range w.packets {
		p := &w.packets[i]
		back := flow{src: p.Dst, dst: p.Src}
		if peer, ok := peers[flowOf(p)]; ok {
			back = peer
		}
		switch {
		case p.Op != ib.CNP && p.ECN == decode.CE:
			marked[back] = true
		case p.Op == ib.CNP && w.side(p) == atSender && !marked[flowOf(p)] && !marked[flow{src: p.Src, dst: p.Dst}]:
			out.add(p, "a CNP to %#x, from which nothing came marked", p.QP)
		}
	}
	return out
}

func icrcIsGood(w *wire) (out violations) {
	for i := range w.packets {
		p := &w.packets[i]
		if p.ICRC == decode.ICRCBad || p.ICRC == decode.ICRCUnchecked && p.CapLen == p.Len {
			out.add(p, "the ICRC is not good")
		}
	}
	return out
}

// portIsFixed looks at each direction by itself: some drivers give the two
// different ones. The management queue pairs have as many as they have paths.
func portIsFixed(s *stream) (out violations) {
	ports := map[[16]byte]uint16{}
	for _, p := range s.packets {
		port, ok := ports[p.Src]
		if ports[p.Src] = p.SrcPort; ok && port != p.SrcPort && p.QP != ib.GSIQP {
			out.add(p, "source port %d, and the packet before had %d", p.SrcPort, port)
		}
	}
	return out
}

// address is a queue pair at a host.
type address struct {
	host [16]byte
	qp   uint32
}

// managementTellsTheTruth: whoever is answered asked before, and what comes to a
// queue pair is as its owner said in REQ or REP.
func managementTellsTheTruth(w *wire) (out violations) {
	ids := map[address]ib.CM{} // by communication ID in place of the queue pair
	said := map[address]ib.CM{}
	for i := range w.packets {
		p := &w.packets[i]
		m, ok := w.cm[p.Frame]
		if !ok {
			continue
		}
		peer, known := ids[address{p.Dst, m.RemoteCommID}]
		switch {
		case p.PayloadLen != ib.MADLen || p.SrcQP != ib.GSIQP:
			out.add(p, "%v of %d bytes from queue pair %#x", m.Attr, p.PayloadLen, p.SrcQP)
		case m.RemoteCommID != 0 && !known:
			out.add(p, "%v answers the communication ID %#x, which nobody told", m.Attr, m.RemoteCommID)
		case m.Attr == ib.AttrDREQ && m.QPN != peer.QPN:
			out.add(p, "DREQ of the queue pair %#x, which is %#x", m.QPN, peer.QPN)
		}
		if m.QPN != 0 && m.Attr != ib.AttrDREQ {
			ids[address{p.Src, m.LocalCommID}] = m
			if m.Attr != ib.AttrSIDRREP {
				said[address{p.Src, m.QPN}] = m
			}
		}
	}
	return append(out, asWasSaid(w, said)...)
}

func asWasSaid(w *wire, said map[address]ib.CM) (out violations) {
	for _, s := range w.streams() {
		first := s.first()
		if m, ok := said[address{s.dst, s.qp}]; ok && first.PSN != m.StartPSN {
			out.add(first, "the first PSN to %#x is %d, and %v said %d", s.qp, first.PSN, m.Attr, m.StartPSN)
		}
		for _, end := range s.ends() {
			if n := said[end].PathMTU.Bytes(); n != 0 && s.told && uint32(n) != s.mtu {
				out.add(first, "packets hold %d bytes, and REQ said %d", s.mtu, n)
			}
		}
	}
	return out
}

// ends are the queue pairs of a stream, as far as they are known.
func (s *stream) ends() []address {
	out := []address{{s.dst, s.qp}}
	for _, a := range s.answers {
		out = append(out, address{a.dst, a.qp})
	}
	return out
}
