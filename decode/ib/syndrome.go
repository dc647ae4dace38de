package ib

import (
	"fmt"
	"time"
)

// Syndrome is the first byte of an AETH: a type in bits 6-5 and a value in
// bits 4-0.
type Syndrome uint8

// SyndromeType tells what an AETH says.
type SyndromeType uint8

// The types of a syndrome.
const (
	ACK              SyndromeType = 0
	RNRNAK           SyndromeType = 1
	ReservedSyndrome SyndromeType = 2
	NAK              SyndromeType = 3
)

// The NAK syndromes, with bit 7 clear.
const (
	NAKPSNSequence       Syndrome = 0x60
	NAKInvalidRequest    Syndrome = 0x61
	NAKRemoteAccess      Syndrome = 0x62
	NAKRemoteOperational Syndrome = 0x63
	NAKInvalidRDRequest  Syndrome = 0x64
)

// Type returns what the syndrome says.
func (s Syndrome) Type() SyndromeType { return SyndromeType(s >> 5 & 3) }

// Value returns the low five bits: a credit code, an RNR timer code or a NAK
// code, by type.
func (s Syndrome) Value() uint8 { return uint8(s & 0x1F) }

// Credits returns the number of further requests an ACK grants, and false
// where it grants none because the receiver keeps no credits (code 31) or the
// syndrome is no ACK.
func (s Syndrome) Credits() (int, bool) {
	v := int(s.Value())
	if s.Type() != ACK || v == 31 {
		return 0, false
	}
	// The scale doubles every two codes: 1, then 2 3 4 6 8 12 16 24 ...
	switch {
	case v < 2:
		return v, true
	case v&1 == 0:
		return 1 << (v / 2), true
	}
	return 3 << (v/2 - 1), true
}

// RNRTimer returns how long an RNR NAK asks the requester to wait, in 10 us to
// 655.36 ms; zero where the syndrome is no RNR NAK. Code 0 is the longest.
func (s Syndrome) RNRTimer() time.Duration {
	if s.Type() != RNRNAK {
		return 0
	}
	return time.Duration(rnrTimers[s.Value()]) * 10 * time.Microsecond
}

// rnrTimers is in units of 10 us.
var rnrTimers = [32]uint32{
	65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192,
	256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
}

// String describes the syndrome as "ACK", "RNR NAK 1.28ms" or "NAK PSN
// sequence error".
func (s Syndrome) String() string {
	switch s.Type() {
	case ACK:
		return "ACK"
	case RNRNAK:
		return "RNR NAK " + s.RNRTimer().String()
	case NAK:
		if int(s.Value()) < len(nakNames) {
			return "NAK " + nakNames[s.Value()]
		}
	}
	return fmt.Sprintf("reserved syndrome 0x%02X", uint8(s))
}

var nakNames = [...]string{
	"PSN sequence error", "invalid request", "remote access error", "remote operational error", "invalid RD request",
}
