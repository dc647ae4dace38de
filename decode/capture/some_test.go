package capture

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/rocescope/rocescope/decode"
)

// Reading many frames at a time gives what reading them one by one does, of files that
// are whole, damaged, cut and joined, and keeps all of them until the next call.
func TestReadingManyAtATime(t *testing.T) {
	frames := sample(9000)
	whole := pcapOf(t, frames)
	large := append(frames[:3000:3000], decode.Frame{Data: make([]byte, 100_000), Len: 100_000, Time: 1_700_000_000_123_456_789, Link: decode.LinkEthernet})
	files := map[string][]byte{
		"pcap": whole, "pcapng": pcapngOf(t, frames[:2000]), "gzip": gz(t, whole), "cut": whole[:len(whole)-7],
		"joined": join(whole, pcapngOf(t, frames[:100]), pcapOf(t, frames[:500])), "large frames": pcapOf(t, large),
		"big-endian": join(pcapHead(orders[1], 0xa1b2c3d4, 65535, 1), bytes.Repeat(pcapRec(orders[1], 1_700_000_000, 5, make([]byte, 60), 40), 300)),
		"modified":   join(pcapHead(orders[0], 0xa1b2cd34, 0, 1), bytes.Repeat(join(u32s(orders[0], 1_700_000_000, 5, 60, 60, 1, 2), make([]byte, 60)), 300)),
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for n := range 120 {
		b := bytes.Clone(whole)
		if n%2 == 1 {
			b = bytes.Clone(files["pcapng"])
		}
		for range 1 + n%5 {
			b[rng.IntN(len(b)-40)+40] ^= byte(1 + rng.IntN(255))
		}
		files[fmt.Sprint("damage ", n)] = b
	}
	for name, b := range files {
		one, err := NewReader(name, bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		want := drain(t, one)
		f, err := NewReader(name, bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		var got []decode.Frame
		some, calls := make([]decode.Frame, 64), 0
		for {
			n, err := f.ReadSome(some[:1+rng.IntN(len(some))])
			if err != nil {
				break
			}
			for _, fr := range some[:n] {
				fr.Data = bytes.Clone(fr.Data)
				got = append(got, fr)
			}
			calls++
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %d frames at a time are not the %d one by one", name, len(got), len(want))
		}
		if a, z := one.Info(), f.Info(); !reflect.DeepEqual(a, z) || !reflect.DeepEqual(one.Damage(), f.Damage()) {
			t.Errorf("%s: %+v\nis not\n%+v", name, z, a)
		}
		if (name == "pcap" || name == "pcapng") && calls > len(want)/20 {
			t.Errorf("%d calls for %d frames", calls, len(want))
		}
	}
}
