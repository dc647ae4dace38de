package capture

import "strconv"

const (
	// resyncWindow is how far a readable record is searched for: the longest
	// usual record several times over.
	resyncWindow = 1 << 20
	// resyncDay, in seconds, is how far the time of a record found by search
	// may lie from its neighbour's.
	resyncDay = 24 * 60 * 60
)

// odd reports whether a record header needs a closer look: a length or a time
// that no capture has, or nothing but zeros, which is what a file looks like
// whose end was allocated but never written.
func (p *pcap) odd(r pcapRecord) bool {
	return r.captured > p.usual || r.frac >= 1e9 || r == pcapRecord{}
}

// borneOut reports whether an odd record is followed by what should follow it:
// its bytes, and then the end or another header. Long records exist, and a
// damaged length usually points into nowhere.
func (p *pcap) borneOut(r pcapRecord) bool {
	if r.captured > maxRecord || r.frac >= 1e9 || r.captured == 0 {
		return false
	}
	n := p.headLen + int(r.captured)
	b := p.peek(n + p.headLen)
	if len(b) < n+p.headLen {
		return len(b) == n
	}
	next := p.record(b[n:])
	return next.captured <= maxRecord && next.frac < 1e9 && next != pcapRecord{}
}

// resync searches for the next readable record after the header bad, notes
// what was skipped for it and reports whether there is one.
func (p *pcap) resync(bad pcapRecord) bool {
	at := p.offset()
	// peek grows the buffer, but never beyond what was really read.
	b := p.peek(resyncWindow + int(p.usual) + 2*p.headLen)
	for i := 1; i < resyncWindow && i+p.headLen <= len(b); i++ {
		if p.pairAt(b, i) {
			p.damage(at, "record header makes no sense (%s); skipped %d bytes to the next readable record", bad.fault(), i)
			p.info.Skipped += int64(i)
			p.skip(i)
			return true
		}
	}
	if p.failure() == nil {
		p.damage(at, "record header makes no sense (%s); no readable record within %d bytes after it, the rest was not read", bad.fault(), min(len(b), resyncWindow))
	}
	return false
}

// pairAt reports whether a record begins at b[i:] that looks right and ends at
// another one, or at the end of the stream. One alone is found in random bytes
// too easily; of two, both in time with what was read before, that is not so.
func (p *pcap) pairAt(b []byte, i int) bool {
	r := p.record(b[i:])
	if !p.plausible(r) || p.info.Frames > 0 && !near(r.sec, p.prev) {
		return false
	}
	end := i + p.headLen + int(r.captured)
	if end+p.headLen > len(b) {
		return end == len(b) && p.err != nil
	}
	next := p.record(b[end:])
	return p.plausible(next) && near(next.sec, r.sec)
}

// plausible is stricter than what reading accepts: it is for headers found by
// search, not for headers in their place.
func (p *pcap) plausible(r pcapRecord) bool {
	return r.captured > 0 && r.captured <= p.usual &&
		r.length >= r.captured && r.length <= maxRecord &&
		int64(r.frac)*p.unit < 1e9
}

func near(a, b uint32) bool { return max(a, b)-min(a, b) <= resyncDay }

// fault says what is wrong with a header.
func (r pcapRecord) fault() string {
	switch {
	case r == pcapRecord{}:
		return "all zeros"
	case r.frac >= 1e9:
		return "a fraction of a second of " + strconv.FormatUint(uint64(r.frac), 10)
	}
	return "a captured length of " + strconv.FormatUint(uint64(r.captured), 10)
}
