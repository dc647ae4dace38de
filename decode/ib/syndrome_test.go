package ib_test

import (
	"testing"
	"time"

	"github.com/rocescope/rocescope/decode/ib"
)

func TestCredits(t *testing.T) {
	want := [31]int{
		0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192,
		256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
	}
	for code, w := range want {
		if n, ok := ib.Syndrome(code).Credits(); !ok || n != w {
			t.Errorf("code %d: %d %v, want %d", code, n, ok, w)
		}
	}
	for _, s := range []ib.Syndrome{0x1F, 0x20, 0x2E, 0x45, 0x60, 0x63} {
		if n, ok := s.Credits(); ok || n != 0 {
			t.Errorf("syndrome %02x grants %d credits", s, n)
		}
	}
}

func TestRNRTimer(t *testing.T) {
	// In milliseconds, as the drivers list them.
	want := [32]float64{
		655.36, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.12,
		0.16, 0.24, 0.32, 0.48, 0.64, 0.96, 1.28, 1.92,
		2.56, 3.84, 5.12, 7.68, 10.24, 15.36, 20.48, 30.72,
		40.96, 61.44, 81.92, 122.88, 163.84, 245.76, 327.68, 491.52,
	}
	for code, ms := range want {
		us := time.Duration(ms*1000 + 0.5)
		if got := ib.Syndrome(0x20 | code).RNRTimer(); got != us*time.Microsecond {
			t.Errorf("code %d: %v, want %v ms", code, got, ms)
		}
	}
	if got := ib.Syndrome(0x0E).RNRTimer(); got != 0 {
		t.Errorf("an ACK has an RNR timer of %v", got)
	}
}

func TestSyndromeString(t *testing.T) {
	for s, want := range map[ib.Syndrome]string{
		0x00: "ACK", 0x1F: "ACK", 0x2E: "RNR NAK 1.28ms", 0x20: "RNR NAK 655.36ms",
		0x40: "reserved syndrome 0x40", 0x60: "NAK PSN sequence error", 0x61: "NAK invalid request",
		0x62: "NAK remote access error", 0x63: "NAK remote operational error", 0x64: "NAK invalid RD request",
		0x65: "reserved syndrome 0x65",
	} {
		if got := s.String(); got != want {
			t.Errorf("%02x: %q, want %q", uint8(s), got, want)
		}
	}
	if ib.NAKRemoteOperational.Type() != ib.NAK || ib.Syndrome(0x2E).Type() != ib.RNRNAK ||
		ib.Syndrome(0x5F).Type() != ib.ReservedSyndrome || ib.Syndrome(0).Type() != ib.ACK {
		t.Error("a syndrome has the wrong type")
	}
}
