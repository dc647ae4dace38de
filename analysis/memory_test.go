package analysis_test

import (
	"encoding/binary"
	"io"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/rocescope/rocescope/decode"
)

// Memory is bounded by rows, never by packets: what one capture needs when it
// is repeated for some manyFrames stays below growthMax.
const (
	manyFrames = 300_000
	growthMax  = 16 << 20
	snapLen    = 96
	icrcLen    = 4
)

// Where the fields lie that a repetition moves on, in Ethernet without tags
// and IPv4 without options.
const (
	idAt  = 14 + 4
	psnAt = 14 + 20 + 8 + 9
)

// loop repeats frames, each time later and with higher PSNs, as one long
// transfer. Its frames are cut before their ICRC, which would no longer fit.
type loop struct {
	frames  []decode.Frame
	time    int64  // that a repetition takes
	psns    uint32 // that it uses up
	rounds  uint32 // how many there are
	round   uint32
	next    int
	buf     [snapLen]byte
	halfway func()
}

func (l *loop) Read(f *decode.Frame) error {
	if l.next == len(l.frames) {
		l.next, l.round = 0, l.round+1
		if l.round == l.rounds/2 {
			l.halfway()
		}
	}
	if l.round == l.rounds {
		return io.EOF
	}
	*f = l.frames[l.next]
	f.Data = l.buf[:copy(l.buf[:], f.Data[:min(len(f.Data), f.Len-icrcLen)])]
	f.Time += int64(l.round) * l.time
	f.Number = uint64(l.round)*uint64(len(l.frames)) + uint64(l.next) + 1
	word := f.Data[psnAt-1:] // the byte before is the ACK request and stays
	psn := binary.BigEndian.Uint32(word)
	binary.BigEndian.PutUint32(word, psn&0xFF000000|(psn+l.round*l.psns)&0x00FFFFFF)
	id := f.Data[idAt:]
	binary.BigEndian.PutUint16(id, binary.BigEndian.Uint16(id)+uint16(l.round*uint32(len(l.frames))))
	l.next++
	return nil
}

// heap is what is in use once all that can be freed is.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestMemoryGrowsWithRowsNotWithPackets(t *testing.T) {
	if testing.Short() {
		t.Skip("a long capture takes long")
	}
	for _, tc := range []struct {
		name, capture string
		psns          uint32
		each          map[string]int64 // what every repetition adds
	}{
		{"PSNs that jump on three queue pairs", "clean_rc_mtu1024.h1.pcap", 1 << 12, nil},
		{"loss behind the tap", "loss_post.h1.pcap", 360, map[string]int64{"lost_downstream": 4, "retransmitted_nak": 8, "naks_psn_sequence": 4}},
		{"loss before the tap", "loss_post.h2.pcap", 360, map[string]int64{"lost_upstream": 4, "retransmitted_nak": 8, "gaps": 4}},
		{"packets that come late", "reorder.h2.s128.pcap", 240, nil},
		{"READ responses lost before the tap", "loss_read_resp.h1.s128.pcap", 600, map[string]int64{"response_lost_upstream": 18}},
		{"READs that jump", "loss_read_resp.h1.s128.pcap", 1 << 14, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			all := frames(t, filepath.Join(softroce, tc.capture))
			l := &loop{frames: all, psns: tc.psns, rounds: uint32(manyFrames / len(all))}
			l.time = all[len(all)-1].Time - all[0].Time + 1_000_000
			before, grown := heap(), int64(0)
			l.halfway = func() { grown = heap() - before }
			r := run(t, l, oneWorker())
			if grown = max(grown, heap()-before); grown > growthMax {
				t.Errorf("%d frames made the heap grow by %d KiB, of %d allowed", r.Totals.Frames, grown>>10, growthMax>>10)
			}
			if want := int64(l.rounds) * int64(len(all)); r.Totals.RoCE != want || r.Totals.ICRCBad != 0 {
				t.Errorf("%d frames of RoCE, want %d; %d with a bad ICRC", r.Totals.RoCE, want, r.Totals.ICRCBad)
			}
			for name, each := range tc.each {
				if got, want := sum(r, name), each*int64(l.rounds); got != want {
					t.Errorf("%s is %d, want %d", name, got, want)
				}
			}
			t.Logf("%d frames made the heap grow by %d KiB; %d rows", r.Totals.Frames, grown>>10, len(r.Flows))
		})
	}
}
