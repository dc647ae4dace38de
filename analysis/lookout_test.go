package analysis

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

func hostNumber(n int) (a [16]byte) {
	binary.BigEndian.PutUint32(a[12:], uint32(n))
	return a
}

// The numbers of hosts and pairs are those of a plain map of what came first.
func TestHostsAreNumberedAsTheyCome(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := newHostIndex()
	hosts, pairs := map[[16]byte]int32{}, map[[2][16]byte]int32{}
	for range 50_000 {
		p := &decode.Packet{Src: hostNumber(rng.IntN(80)), Dst: hostNumber(rng.IntN(80))}
		for _, a := range [][16]byte{p.Src, p.Dst} {
			if _, ok := hosts[a]; !ok {
				hosts[a] = int32(len(hosts))
			}
		}
		k, back := [2][16]byte{p.Src, p.Dst}, int32(NoHost)
		if _, ok := pairs[k]; !ok {
			pairs[k] = int32(len(pairs))
		}
		if n, ok := pairs[[2][16]byte{p.Dst, p.Src}]; ok {
			back = n
		}
		got, want := Train{}, Train{Pair: pairs[k], Back: back, Src: hosts[p.Src], Dst: hosts[p.Dst]}
		if x.number(p, &got); got.Pair != want.Pair || got.Back != want.Back || got.Src != want.Src || got.Dst != want.Dst {
			t.Fatalf("%d to %d has the numbers %+v, want %+v", p.Src[15], p.Dst[15], got, want)
		}
	}
	if len(x.pairs) != len(pairs) || len(pairs) < 6000 {
		t.Errorf("%d pairs of %d", len(x.pairs), len(pairs))
	}
}

// Beyond its caps the index grows no more, and says so of what it does not have.
func TestHostsBeyondTheCap(t *testing.T) {
	x := newHostIndex()
	var got Train
	for n := range pairsMost + 1000 { // of few hosts
		got = Train{}
		x.number(&decode.Packet{Src: hostNumber(n % 300), Dst: hostNumber(1000 + n/300)}, &got)
	}
	if got.Pair != NoHost && got.Pair != 0 || len(x.pairs) != pairsMost || got.Src < 0 || got.Dst < 0 {
		t.Errorf("the pair beyond the cap has the numbers %+v among %d", got, len(x.pairs))
	}
	x = newHostIndex()
	for n := range hostsMost {
		x.number(&decode.Packet{Src: hostNumber(n), Dst: hostNumber(n)}, &got)
	}
	got = Train{Pair: NoHost, Back: NoHost}
	x.number(&decode.Packet{Src: hostNumber(3), Dst: hostNumber(hostsMost + 1)}, &got)
	if got.Pair != NoHost || got.Src != 3 || got.Dst != NoHost || len(x.hosts) != hostsMost {
		t.Errorf("a host beyond the cap: %+v of %d hosts", got, len(x.hosts))
	}
}

// seenTrains keeps what it is shown, in words.
type seenTrains struct {
	Watcher
	words []string
	sorts Sorts
	shows int
}

func (s *seenTrains) Watch(ts []Train, sorts Sorts) {
	for i := range ts {
		bytes := int64(0)
		for _, p := range ts[i].Packets {
			bytes += int64(p.Len)
		}
		if !sorts.Has(ts[i].Sort) || bytes != ts[i].Bytes {
			s.words = append(s.words, fmt.Sprintf("sort %d or bytes %d wrong", ts[i].Sort, ts[i].Bytes))
		}
		s.words = append(s.words, fmt.Sprintf("%d×%d", ts[i].Sort, len(ts[i].Packets)))
	}
	s.sorts, s.shows = s.sorts|sorts, s.shows+1
}

func TestFramesAlikeMakeATrain(t *testing.T) {
	data := func(change ...func(*decode.Packet)) *decode.Packet {
		p := &decode.Packet{Status: decode.RoCE, Version: 2, Op: ib.Of(ib.RC, ib.WriteMiddle), QP: 7, Len: 100, Src: hostNumber(1), Dst: hostNumber(2), ECN: decode.ECT0}
		for _, f := range change {
			f(p)
		}
		return p
	}
	nak := func(p *decode.Packet) { p.Op, p.HasExt, p.Syndrome = ack, true, ib.NAKPSNSequence }
	for _, c := range []struct {
		name   string
		frames []*decode.Packet
		want   []string
	}{
		{"the same", []*decode.Packet{data(), data(), data()}, []string{"7×3"}},
		{"another queue pair of the same hosts", []*decode.Packet{data(), data(func(p *decode.Packet) { p.QP = 8 })}, []string{"7×2"}},
		{"another host", []*decode.Packet{data(), data(func(p *decode.Packet) { p.Dst = hostNumber(3) })}, []string{"7×1", "7×1"}},
		{"marked", []*decode.Packet{data(), data(func(p *decode.Packet) { p.ECN = decode.CE })}, []string{"7×1", "7×1"}},
		{"another priority", []*decode.Packet{data(), data(func(p *decode.Packet) { p.Tagged, p.PCP = true, 3 })}, []string{"7×1", "7×1"}},
		{"priority 0, which is not untagged", []*decode.Packet{data(), data(func(p *decode.Packet) { p.Tagged = true })}, []string{"7×1", "7×1"}},
		{"an earlier time", []*decode.Packet{data(func(p *decode.Packet) { p.Time = 9 }), data()}, []string{"7×1", "7×1"}},
		{"a READ, its response, an ACK, a NAK, a CNP, management, a pause and something else", []*decode.Packet{
			data(func(p *decode.Packet) { p.Op = ib.Of(ib.RC, ib.ReadRequest) }), data(func(p *decode.Packet) { p.Op = ib.Of(ib.RC, ib.ReadResponseOnly) }),
			data(func(p *decode.Packet) { p.Op = ack }), data(nak), data(func(p *decode.Packet) { p.Op = ib.CNP }), data(func(p *decode.Packet) { p.QP = 1 }),
			data(func(p *decode.Packet) { p.Status = decode.PFC }), data(func(p *decode.Packet) { p.Status = decode.Other }),
		}, []string{"6×1", "8×1", "4×1", "5×1", "3×1", "2×1", "1×1", "0×1"}},
	} {
		s := &seenTrains{}
		l := NewLookout(s)
		for _, p := range c.frames {
			l.Add(p)
		}
		if l.Show(); !slices.Equal(s.words, c.want) {
			t.Errorf("%s: %v, want %v", c.name, s.words, c.want)
		}
	}
}

var ack = ib.Of(ib.RC, ib.Acknowledge)

// A train that is longer than what is gathered at a time comes in pieces, and what
// the decoder knows to go on makes no other trains.
func TestLongTrains(t *testing.T) {
	p := &decode.Packet{Status: decode.RoCE, Op: ib.Of(ib.RC, ib.WriteMiddle), QP: 7, Len: 100, Src: hostNumber(1), Dst: hostNumber(2)}
	late := *p
	late.Time = 5
	frames := slices.Repeat([]*decode.Packet{p}, 2*batchSize+3)
	frames = append(frames, &late, p) // time steps back
	for name, show := range map[string]func(*Lookout){
		"one by one": func(l *Lookout) {
			for _, p := range frames {
				l.Add(p)
			}
			l.Show()
		},
		"many at a time": func(l *Lookout) {
			o := overseer{lookout: l, clock: clock{limits: &Defaults(1).Limits}}
			for i := 0; i < len(frames); i += batchSize {
				v := &view{n: min(batchSize, len(frames)-i)}
				for j := range v.n {
					v.frames[j] = frames[i+j]
					v.goesOn.set(j, 1)
				}
				o.see(v)
			}
			if got := o.totals(); got.NativeIB != int64(len(frames)) || got.Frames != got.NativeIB || got.Backward != 1 {
				t.Errorf("%+v of %d frames", got, len(frames))
			}
		},
	} {
		s := &seenTrains{}
		l := NewLookout(s)
		show(l)
		l.Show() // of nothing
		if want := []string{fmt.Sprintf("7×%d", batchSize), fmt.Sprintf("7×%d", batchSize), "7×4", "7×1"}; !slices.Equal(s.words, want) || s.shows != 3 || s.sorts != 1<<Data {
			t.Errorf("%s: %v in %d shows of the sorts %b, want %v", name, s.words, s.shows, s.sorts, want)
		}
	}
}
