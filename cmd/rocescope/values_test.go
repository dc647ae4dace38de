package main

import (
	"runtime/debug"
	"testing"
)

func TestRate(t *testing.T) {
	for _, c := range []struct {
		text string
		want rate
	}{
		{"100G", 100e9}, {"400g", 400e9}, {"25 Gbit/s", 25e9}, {"1.6T", 1.6e12}, {"10Gbps", 10e9}, {"800Mb", 800e6}, {"100GbE", 100e9},
	} {
		var r rate
		if err := r.Set(c.text); err != nil || r != c.want {
			t.Errorf("%q is %v (%v), not %v", c.text, float64(r), err, float64(c.want))
		}
		if again := new(rate); again.Set(r.String()) != nil || *again != r {
			t.Errorf("%q is written as %q, which is not the same", c.text, r.String())
		}
	}
	for _, text := range []string{"", "100", "G", "-100G", "0G", "1e3G", "100X", "100Gx", "1.2.3G"} {
		if err := new(rate).Set(text); err == nil {
			t.Errorf("%q passes as a rate", text)
		}
	}
}

func TestSeconds(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0.000000000", 1: "0.000000001", 1_700_000_000_000_000_123: "1700000000.000000123",
		-1: "-0.000000001", -2_500_000_000: "-2.500000000", -1 << 63: "-9223372036.854775808",
	} {
		if got := seconds(ns); got != want {
			t.Errorf("%d ns are %s, not %s", ns, got, want)
		}
	}
}

func TestVersion(t *testing.T) {
	b := &debug.BuildInfo{GoVersion: "go1.26"}
	b.Main.Version = "v1.2.3"
	if got := versionOf(b); got != "v1.2.3 (go1.26)" {
		t.Error(got)
	}
	b.Main.Version = "(devel)"
	b.Settings = []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.modified", Value: "true"}}
	if got := versionOf(b); got != "devel (commit 0123456789ab, with changes, go1.26)" {
		t.Error(got)
	}
}
