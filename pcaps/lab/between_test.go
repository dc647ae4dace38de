package main

import (
	"slices"
	"testing"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// packet is the one with a PSN, from host 1 to host 2. Its IPv4 ID tells it
// from others with that PSN.
func packet(psn ib.PSN, id uint16) frame {
	p := decode.Packet{Op: ib.Of(ib.RC, ib.WriteMiddle), QP: 17, PSN: psn, IPID: id, PayloadLen: 1024}
	p.Src[15], p.Dst[15] = 1, 2
	return frame{p, "h1", keyOf(&p)}
}

// packets are those with PSNs, whose IDs are the same.
func packets(psns ...ib.PSN) []frame {
	var out []frame
	for i, p := range psns {
		f := packet(p, uint16(p))
		f.Frame = uint64(i + 1)
		out = append(out, f)
	}
	return out
}

func TestDifferencesBetweenTaps(t *testing.T) {
	marked := packets(1, 2, 3)
	marked[1].ECN = decode.CE
	damaged := packets(1, 2, 3)
	damaged[2].PSN, damaged[2].key.psn = 1<<20, 1<<20
	tests := []struct {
		name          string
		before, after []frame
		want          difference
	}{
		{"all pass", packets(1, 2, 3), packets(1, 2, 3), difference{Frames: 3}},
		{"one is lost", packets(1, 2, 3), packets(1, 3), difference{Frames: 3, LostTotal: 1}},
		{"all are lost", packets(1, 2), nil, difference{Frames: 2, LostTotal: 2}},
		{"one is doubled", packets(1, 2, 3), packets(1, 2, 2, 3), difference{Frames: 3, Copies: 1}},
		{"one overtakes two", packets(1, 2, 3), packets(3, 1, 2), difference{Frames: 3, Late: 2}},
		{"one comes late, one is lost", packets(1, 2, 3, 4), packets(2, 1, 4), difference{Frames: 4, Late: 1, LostTotal: 1}},
		{"one is marked", packets(1, 2, 3), marked, difference{Frames: 3, Marked: 1}},
		{"one is damaged", packets(1, 2, 3), damaged, difference{Frames: 3, Damaged: 1}},
		{"the first tap has one twice", packets(1, 1, 2), packets(1, 1, 2), difference{Frames: 3}},
	}
	for _, test := range tests {
		got := compare(test.before, test.after)
		got.Lost = nil
		if !same(got, test.want) {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}

func same(a, b difference) bool {
	return a.Frames == b.Frames && a.LostTotal == b.LostTotal && a.Copies == b.Copies && a.Late == b.Late && a.Damaged == b.Damaged && a.Marked == b.Marked
}

func TestLostFramesAreListed(t *testing.T) {
	got := compare(packets(7, 8, 9), packets(7, 9)).Lost
	want := []lost{{Tap: "h1", Frame: 2, DestQP: 17, PSN: 8, Opcode: "RC RDMA WRITE Middle", op: ib.Of(ib.RC, ib.WriteMiddle)}}
	if !slices.Equal(got, want) {
		t.Errorf("lost are %+v", got)
	}
}

func TestAlongThePathOnlyWholeStepsAreCompared(t *testing.T) {
	r := &recording{
		scenario: &scenario{Net: network{LeafSpine: true, Hosts: 4}, Taps: []tap{{"h1", 0}, {"l1s1", 0}, {"l2s1", 0}, {"l2s2", 0}, {"h3", 0}}},
		seen:     map[string][]frame{},
	}
	for _, p := range packets(1, 2, 3) {
		p.Dst[15] = 3
		p.key.dst[15] = 3
		r.seen["h1"] = append(r.seen["h1"], p)
		r.seen["h3"] = append(r.seen["h3"], p)
		if p.PSN < 3 {
			r.seen["l2s1"] = append(r.seen["l2s1"], p)
		}
	}
	got := r.between()
	if len(got) != 2 || got[0].To != "l2s1+l2s2" || got[0].LostTotal != 1 || got[1].Copies+got[1].LostTotal != 0 {
		t.Errorf("there are %+v", got)
	}
}

func TestSentAgain(t *testing.T) {
	read := packet(10, 100)
	read.Op, read.DMALen = ib.Of(ib.RC, ib.ReadRequest), 4000
	tests := []struct {
		name   string
		frames []frame
		want   int
	}{
		{"all once", packets(1, 2, 3), 0},
		{"go back to the second", append(packets(1, 2, 3), packet(2, 102), packet(3, 103)), 2},
		{"a copy is not sent again", append(packets(1, 2), packets(2)...), 0},
		{"PSNs wrap", []frame{packet(1<<24-1, 1), packet(0, 2), packet(1<<24-1, 3)}, 1},
		{"a READ takes PSNs", []frame{read, packet(14, 101)}, 0},
		{"within the PSNs of a READ", []frame{read, packet(13, 101)}, 1},
	}
	for _, test := range tests {
		got := map[key]int{}
		sentAgain(test.frames, 1024, got)
		if len(got) != test.want {
			t.Errorf("%s: %d, want %d", test.name, len(got), test.want)
		}
	}
}

// IPv6 frames have no ID: what was sent again looks like what was sent first.
func TestFramesThatLookAlikeAreNumbered(t *testing.T) {
	at := func(psn ib.PSN, time int64) frame {
		p := decode.Packet{Op: ib.Of(ib.RC, ib.WriteMiddle), QP: 17, PSN: psn, IPv6: true, PayloadLen: 1024, Time: time}
		p.Src[15], p.Dst[15] = 1, 2
		return frame{p, "h1", keyOf(&p)}
	}
	r := &recording{
		scenario: &scenario{Net: network{Hosts: 2}, Taps: []tap{{"h1", 0}, {"s2", 0}}, Sample: sample{Points: []string{"s2"}}},
		seen: map[string][]frame{
			"h1": {at(1, 10), at(2, 20), at(3, 30), at(2, 50), at(3, 60), at(4, 70), at(4, 72)},
			// The first 2 is lost, the first 3 doubled, and both 4 are on their way at once.
			"s2": {at(1, 11), at(3, 31), at(3, 32), at(2, 51), at(3, 61), at(4, 75), at(4, 77)},
		},
	}
	r.number()
	d := r.between()
	if len(d) != 1 || d[0].LostTotal != 1 || d[0].Lost[0].PSN != 2 || d[0].Copies != 1 || d[0].Late != 0 {
		t.Errorf("the difference is %+v", d)
	}
	rows := r.rows(&truth{Between: d})
	if len(rows) != 1 || rows[0].Resent != 3 || rows[0].Copies != 1 || rows[0].LostBefore != 1 {
		t.Errorf("the rows are %+v", rows[0])
	}
}
