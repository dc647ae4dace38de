package synth

import "github.com/rocescope/rocescope/decode/ib"

// seen counts a packet that was captured: what every capture shows of it,
// whatever became of others.
func (c *counter) seen(x *record, snapLen int) {
	p, frames := x.packet, int64(1+x.copies)
	c.add(p, "frames", frames)
	c.add(p, "bytes", frames*int64(x.bytes))
	c.add(p, "mirror_duplicates", int64(x.copies))
	c.integrity(x, snapLen)
	if x.ce {
		c.add(p, "ce_frames", 1)
	}
	c.stall(x)
	switch p.kind {
	case isCNP:
		c.add(p, "cnps", 1)
	case isRequest, isManagement:
		c.request(p)
	default:
		c.response(p)
	}
}

// integrity counts the ICRC, of copies once.
func (c *counter) integrity(x *record, snapLen int) {
	switch {
	case snapLen > 0 && x.bytes > snapLen:
		c.add(x.packet, "icrc_unchecked", 1)
	case x.damaged:
		c.add(x.packet, "icrc_bad", 1)
	default:
		c.add(x.packet, "icrc_good", 1)
	}
}

func (c *counter) request(p *packet) {
	c.add(p, "request_frames", 1)
	if p.kind == isManagement {
		c.add(p, "request_bytes", ib.MADLen)
		c.add(p, "messages", 1)
		return
	}
	c.add(p, "request_bytes", int64(len(p.payload)))
	if !p.bth.Opcode.Is(ib.IsRead) {
		c.add(p, "data_frames", 1)
	}
}

func (c *counter) response(p *packet) {
	c.add(p, "response_frames", 1)
	c.add(p, "response_bytes", int64(len(p.payload)))
	if p.bth.Opcode.Is(ib.IsReadResponse | ib.IsAtomicAck) {
		c.add(p, "data_frames", 1)
	}
	if p.bth.Opcode.Is(ib.IsAck) {
		c.add(p, answerColumn(p.syndrome()), 1)
	}
}

func answerColumn(s ib.Syndrome) string {
	switch {
	case s.Type() == ib.ACK:
		return "acks"
	case s.Type() == ib.RNRNAK:
		return "rnr_naks"
	case s == ib.NAKInvalidRequest:
		return "naks_invalid_request"
	case s == ib.NAKRemoteAccess:
		return "naks_remote_access"
	case s == ib.NAKRemoteOperational:
		return "naks_remote_operational"
	}
	return "naks_psn_sequence"
}

// stall measures the time from an RNR NAK to the first packet that came for it,
// as the tap sees both.
func (c *counter) stall(x *record) {
	p := x.packet
	if p.asker == nil {
		return
	}
	if p.syndrome().Type() == ib.RNRNAK {
		c.stalls[p] = x.time
	}
	if t, ok := c.stalls[p.trigger]; ok && p.again == byRNR && p.bth.PSN == p.trigger.bth.PSN {
		c.add(p.trigger, "rnr_stall_ns", x.time-t)
		delete(c.stalls, p.trigger)
	}
}
