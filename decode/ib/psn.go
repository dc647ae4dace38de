package ib

// PSN is a packet sequence number: 24 bits, compared as a serial number. Two
// PSNs can be ordered only while they lie within half the space (2^23) of each
// other, which is what bounds the window of outstanding packets.
type PSN uint32

// PSNMask covers the 24 bits of a PSN, a QPN or an MSN.
const PSNMask = 0xFFFFFF

// Add returns p advanced by n, wrapping at 2^24. n may be negative.
func (p PSN) Add(n int32) PSN { return PSN(uint32(p)+uint32(n)) & PSNMask }

// Sub returns the signed distance from q to p, in -2^23 .. 2^23-1: positive
// where p comes after q.
func (p PSN) Sub(q PSN) int32 { return int32(uint32(p-q)<<8) >> 8 }

// Before reports whether p comes before q.
func (p PSN) Before(q PSN) bool { return p.Sub(q) < 0 }

// After reports whether p comes after q.
func (p PSN) After(q PSN) bool { return p.Sub(q) > 0 }
