package analysis

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

func TestRecentKeepsWhatNobodyAcknowledged(t *testing.T) {
	for _, c := range []struct {
		name string
		n    int32 // packets
		una  int32
		keep int32 // how many of the last must be found
		max  int   // slots at most
	}{
		{"a window of one", 1000, 1000, 1, recentMin},
		{"all acknowledged", 1000, 1000, recentMin, recentMin},
		{"a window of a hundred", 100, 0, 100, 256},
		{"a window as large as it may be", recentMax, 0, recentMax / 2, recentMax},
		{"nothing is ever acknowledged", 100_000, 0, recentMax / 2, recentMax},
	} {
		for _, base := range startPSNs {
			var rc recent
			room := recentRoom(recentAll)
			for n := range c.n {
				una := base
				if c.una > 0 {
					una = base.Add(n)
				}
				rc.put(&decode.Packet{PSN: base.Add(n), Frame: uint64(n + 1)}, 0, una, &room)
			}
			forgotten := int32(0)
			for n := c.n - c.keep; n < c.n; n++ {
				switch e := rc.get(base.Add(n)); {
				case e == nil:
					forgotten++
				case e.frame() != uint64(n+1):
					t.Errorf("%s from %#x: packet %d of %d was seen in frame %d", c.name, base, n, c.n, e.frame())
				}
			}
			if forgotten > c.keep/20 { // some may share a slot
				t.Errorf("%s from %#x: %d of %d are forgotten", c.name, base, forgotten, c.keep)
			}
			if len(rc.slots) > c.max {
				t.Errorf("%s: %d slots, want at most %d", c.name, len(rc.slots), c.max)
			}
			if e := rc.get(base.Add(c.n + 7)); e != nil {
				t.Errorf("%s: a packet that never passed was seen in frame %d", c.name, e.frame())
			}
		}
	}
	var none recent
	if none.get(0) != nil {
		t.Error("an empty memory has PSN 0")
	}
}

func TestSightingsAreFewWhereThereIsNoRoom(t *testing.T) {
	room := recentRoom(100)
	for _, c := range []struct {
		room *recentRoom
		want int
		left recentRoom
	}{
		{nil, recentFew, 100},
		{&room, 64, 100 - 16 - 32}, // the next 64 are too many
		{&room, 64, 100 - 16 - 32 - 16 - 32},
		{&room, recentFew, 4},
	} {
		var s recent
		for n := range int32(1000) {
			s.put(&decode.Packet{PSN: ib.PSN(0).Add(n)}, 0, 0, c.room)
		}
		if len(s.slots) != c.want || s.get(999) == nil || room != c.left {
			t.Errorf("%d slots, of which the newest packet has %v; there is room for %d", len(s.slots), s.get(999), room)
		}
	}
}

func TestRecentSpreadsTheStepsOfREADs(t *testing.T) {
	const reads = 16 // what most adapters let be outstanding
	for _, step := range []int32{1, 2, 4, 8, 16, 32, 64} {
		t.Run(fmt.Sprintf("steps of %d", step), func(t *testing.T) {
			var rc recent
			room := recentRoom(recentAll)
			for n := range int32(reads) {
				rc.put(&decode.Packet{PSN: ib.PSN(0).Add(n * step)}, 0, 0, &room)
			}
			for n := range int32(reads) {
				if rc.get(ib.PSN(0).Add(n*step)) == nil {
					t.Errorf("READ %d is forgotten among %d slots", n, len(rc.slots))
				}
			}
		})
	}
}

func TestIDsAreBelievedOnceTheyRise(t *testing.T) {
	feed := func(ids ...uint16) *idOrder {
		o := &idOrder{last: ids[0]}
		for _, id := range ids[1:] {
			o.inOrder(id)
			o.newest(id, o.rising())
		}
		return o
	}
	for _, c := range []struct {
		name          string
		o             *idOrder
		rising, tells bool
	}{
		{"a few that rise are too few", feed(1, 1000, 2000, 3000, 4000), false, true},
		{"six that rise", feed(1, 1000, 2000, 3000, 4000, 5000), true, true},
		{"three that rise by little", feed(1, 2, 3), true, true},
		{"two are too few", feed(1, 2), false, true},
		{"others may have got those between", feed(1, 60, 100), true, true},
		{"a leap lets them begin anew", feed(1, 2, 30000, 30001), false, true},
		{"they may skip", feed(1, 5, 9, 100, 2000, 2001), true, true},
		{"they may wrap", feed(65533, 65534, 65535, 0, 1, 2), true, true},
		{"three that wrap", feed(65535, 0, 1), true, true},
		{"one that falls ends it", feed(1, 2, 3, 4, 5, 6, 2), false, true},
		{"one constant", feed(7, 7, 7, 7, 7, 7, 7), false, false},
		{"always zero", feed(0, 0, 0, 0, 0, 0), false, false},
		{"one that stays ends it", feed(1, 2, 3, 4, 5, 6, 6), false, false},
	} {
		if got := c.o.rising(); got != c.rising {
			t.Errorf("%s: rising is %v", c.name, got)
		}
		if got := c.o.tells(c.o.last); got != c.tells {
			t.Errorf("%s: tells is %v", c.name, got)
		}
	}
}

func TestCountersOfIDsSaturate(t *testing.T) {
	var o idOrder
	for range 1000 {
		o.step(1)
	}
	if o.rises != 255 || !o.rising() {
		t.Errorf("%d rises", o.rises)
	}
}

// TestOneRowShowsForAllThatASenderNumbers lets a first queue pair show that IDs
// rise, so that a second one's late packet is known for what it is at once.
func TestOneRowShowsForAllThatASenderNumbers(t *testing.T) {
	s := newScript(rising, 100).warm()
	o := s.say("A2: (50) 51 late:50 B2: ack:51").play()
	if got, want := o.text(), "A2:gap@50 A2:out_of_order@50"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestIDsThatRoseByChance lets the IDs of a sender that draws them rise some times in a row.
func TestIDsThatRoseByChance(t *testing.T) {
	for _, c := range []struct {
		name, script string
		ids          []uint16
	}{
		{"the next one falls by a little", "A: 0-6 7! B: ack:7", []uint16{100, 1100, 2100, 3100, 4100, 5100, 4000, 9000}},
		{"so it does where they have risen for long", "A: 0-39 40! B: ack:40", falling(40, 39, 1000)},
		{"another one's, of the same sender", "A: 0-6 A2: 50-51 52!", []uint16{100, 1100, 2100, 3100, 4100, 5100, 50_000, 20_000, 19_000, 18_000}},
	} {
		s := newScript(scattered, 100).say(c.script)
		for i, id := range c.ids {
			s.packets[i].IPID = id
		}
		if o := s.play(); strings.Contains(o.text(), "out_of_order") {
			t.Errorf("%s: got %s", c.name, o.text())
		}
	}
}

// falling returns n IDs that rise, but for the one at an index, which falls by so much, and
// those behind it, which rise from there.
func falling(n, at int, by uint16) []uint16 {
	ids := make([]uint16, n)
	for i := range ids {
		if ids[i] = 5000 + uint16(i); i >= at {
			ids[i] -= by
		}
	}
	return ids
}

func TestASightingIsSmallAndKeepsAll(t *testing.T) {
	if n := unsafe.Sizeof(sighting{}); n != 24 {
		t.Errorf("a sighting takes %d bytes: of each queue pair up to %d are kept", n, recentMax)
	}
	p := decode.Packet{Time: -1, Frame: 1<<48 - 1, IPID: 0xfffe, PayloadLen: 4096, ICRC: decode.ICRCGood, ICRCVal: 0x89abcdef}
	p.PSN, p.Op = 0xfffffd, ib.CNP
	var s sighting
	s.set(&p, seenLate)
	if s.time != -1 || s.frame() != p.Frame || s.id() != p.IPID || s.psn() != p.PSN || s.op() != p.Op || s.flags != seenLate|seenValid || !s.isLike(&p) {
		t.Errorf("of %+v is kept %+v", p, s)
	}
	for bit := range 32 {
		q := p
		if q.ICRCVal ^= 1 << bit; s.isLike(&q) {
			t.Errorf("a packet whose ICRC differs in bit %d is taken for a copy", bit)
		}
	}
}

func TestTheFirstIDOfResponsesIsNoneThatFell(t *testing.T) {
	for _, first := range []uint16{1, 20_000, 32_768, 43_454, 65_535} {
		g := &row{bundle: &bundle{rising: [2]bool{true, true}}}
		for n := range 3 {
			p := &decode.Packet{PSN: ib.PSN(n), IPID: first + uint16(n)}
			g.rsp.takeNew(g, p)
		}
		if late := (&decode.Packet{IPID: first - 1}); g.rsp.ids.falls > 0 || g.rsp.ids.last != first+2 || !g.sentBefore(&g.rsp.ids, late) {
			t.Errorf("first %d: %+v", first, g.rsp.ids)
		}
	}
}
