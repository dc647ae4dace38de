package capture

import (
	"fmt"
	"io"
	"strconv"
)

const (
	// resyncWindow is how far a readable record is searched for: the longest
	// usual record several times over.
	resyncWindow = 1 << 20
	// resyncDay, in seconds, is how far the time of a record found by search
	// may lie from its neighbour's.
	resyncDay = 24 * 60 * 60
)

// odd reports whether a record header needs a closer look: a length or a time
// that hardly a capture has, or nothing but zeros, which is what a file looks
// like whose end was allocated but never written.
func (p *pcap) odd(r pcapRecord) bool {
	return r.captured > p.usual || r.captured > r.length || r.frac >= 1e9 || r == pcapRecord{}
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
		return len(b) >= n
	}
	next := p.record(b[n:])
	return next.captured <= maxRecord && next.frac < 1e9 && next != pcapRecord{} || isHeader(b[n:])
}

// resync searches for the next readable record after the header bad and jumps
// there. Its error, where there is none, is what Read returns from now on.
func (p *pcap) resync(bad pcapRecord) error {
	at := p.offset()
	fault := "record header makes no sense (" + bad.fault() + ")"
	i, searched := p.search()
	if i == 0 {
		return p.giveUp(fault, "record", searched)
	}
	p.damage(at, "%s; skipped %d bytes to the next readable record", fault, i)
	p.jump(i)
	return nil
}

// giveUp is called where nothing readable was found: it notes the damage and
// returns what Read is to return from now on. Of a stream that ends within what
// was searched the rest is skipped, of any other it is left.
func (in *input) giveUp(fault, what string, searched int) error {
	if err := in.failure(); err != nil {
		return err
	}
	at := in.offset()
	rest := in.peek(searched + 1)
	if len(rest) > searched {
		return in.stopAt(at, "%s; no readable %s within %d bytes after it", fault, what, searched)
	}
	in.jump(len(rest))
	broken := ""
	if in.err != io.EOF {
		broken = fmt.Sprintf(", where the %s stream breaks off (%v)", in.info.Compression, in.err)
	}
	in.damage(at, "%s; skipped the %d bytes that are left, with no readable %s among them%s", fault, len(rest), what, broken)
	return io.EOF
}

// overstated is called for a record of want bytes where only have are left. It
// tells a length that is false from a record that is cut: after the former
// there are others, which reading then goes on with.
func (p *pcap) overstated(have, want int) bool {
	at := p.offset()
	i, _ := p.search()
	if i == 0 {
		return false
	}
	p.damage(at, "record of %d bytes where %d are left; skipped %d bytes to the next readable record", want, have, i)
	p.jump(i)
	return true
}

// search returns how far away the next readable record or file header is, 0 if
// there is none near, and how many bytes were looked at.
func (p *pcap) search() (far, searched int) {
	// peek grows the buffer, but never beyond what was really read.
	b := p.peek(resyncWindow + classicRecord)
	for i := 1; i < resyncWindow && i+p.headLen <= len(b); i++ {
		if isHeader(b[i:]) || p.pairAt(b, i) {
			return i, i
		}
	}
	return 0, min(len(b), resyncWindow)
}

// pairAt reports whether a record begins at b[i:] that looks right and ends at
// another one, at the header of another file, or at the end of the stream. One
// alone is found in random bytes too easily; of two, both in time with what was
// read before, that is not so.
func (p *pcap) pairAt(b []byte, i int) bool {
	r := p.record(b[i:])
	if !p.plausible(r) || p.timed && !near(r.sec, p.prev) {
		return false
	}
	end := i + p.headLen + int(r.captured)
	if end+p.headLen > len(b) {
		return end == len(b) && p.err != nil
	}
	next := p.record(b[end:])
	return p.plausible(next) && near(next.sec, r.sec) || isHeader(b[end:])
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
	case r.captured > r.length && r.captured <= classicRecord:
		return "a captured length of " + strconv.FormatUint(uint64(r.captured), 10) + ", above the " + strconv.FormatUint(uint64(r.length), 10) + " on the wire"
	}
	return "a captured length of " + strconv.FormatUint(uint64(r.captured), 10)
}
