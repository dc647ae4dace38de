package report

import (
	"reflect"
	"testing"
)

func TestFlowSums(t *testing.T) {
	f := Flow{
		LostUpstream: 1, LostDownstream: 2, ResponseLostUpstream: 4, ResponseLostDownstream: 8, NotCaptured: 16,
		Retransmitted: 1, RetransmittedNAK: 1, ResponseRetransmitted: 2,
		NAKSequence: 1, NAKInvalidRequest: 2, NAKRemoteAccess: 4, NAKRemoteOperational: 8, RNRNAKs: 16,
	}
	if f.Lost() != 15 || f.Resent() != 3 || f.NAKs() != 31 {
		t.Errorf("lost %d, resent %d, NAKs %d", f.Lost(), f.Resent(), f.NAKs())
	}
}

func TestFlowRef(t *testing.T) {
	for _, test := range []struct {
		desc, want string
		f          Flow
	}{
		{"IPv4", "10.0.0.1 → 10.0.0.2 QP 0xd2", Flow{Src: "10.0.0.1", Dst: "10.0.0.2", DestQP: 210}},
		{"beyond the cap", "all further flows", Flow{Src: Other, Dst: Other}},
	} {
		if got := test.f.Ref().String(); got != test.want {
			t.Errorf("%s: %q, want %q", test.desc, got, test.want)
		}
	}
}

func TestEvidenceOf(t *testing.T) {
	gap := Evidence{Kind: "gap", Count: 3, Frames: []uint64{7}}
	f := Flow{Evidence: []Evidence{gap}}
	if got := f.EvidenceOf("gap"); !reflect.DeepEqual(got, gap) {
		t.Errorf("got %v", got)
	}
	if got := f.EvidenceOf("ce"); !reflect.DeepEqual(got, Evidence{Kind: "ce"}) {
		t.Errorf("of a kind that did not happen: %v", got)
	}
}

func TestSectionLookups(t *testing.T) {
	var r Report
	s := r.Section("pfc")
	s.Measures = []Measure{{Name: "pauses", Value: 7}}
	s.Tables = []Table{{Name: "host"}}
	s = r.Section("pfc")
	if len(r.Sections) != 1 || s.Value("pauses") != 7 || s.Value("none") != 0 {
		t.Errorf("got %v", r.Sections)
	}
	if s.Table("host") == nil || s.Table("none") != nil {
		t.Error("tables are not found by name")
	}
}
