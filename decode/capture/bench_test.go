package capture

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/rocescope/rocescope/decode"
)

// BenchmarkRead reads from memory, by format and by how much of each frame was
// captured.
func BenchmarkRead(b *testing.B) {
	for _, size := range []int{96, 1086} {
		frames := make([]decode.Frame, 100_000)
		for i := range frames {
			frames[i] = decode.Frame{Data: make([]byte, size), Time: int64(i) * 1000, Len: 1086, Link: decode.LinkEthernet}
		}
		for _, c := range []struct {
			name string
			file []byte
		}{{"pcap", pcapOf(b, frames)}, {"pcapng", pcapngOf(b, frames)}} {
			b.Run(fmt.Sprintf("%s/%dB", c.name, size), func(b *testing.B) {
				b.SetBytes(int64(len(c.file)))
				b.ReportAllocs()
				for b.Loop() {
					readAll(b, c.file)
				}
				b.ReportMetric(float64(len(frames))*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mframes/s")
			})
		}
	}
}

// BenchmarkMerge reads four pcaps in the order of time.
func BenchmarkMerge(b *testing.B) {
	frames := make([]decode.Frame, 25_000)
	for i := range frames {
		frames[i] = decode.Frame{Data: make([]byte, 96), Time: int64(i) * 1000, Len: 1086, Link: decode.LinkEthernet}
	}
	file := pcapOf(b, frames)
	b.SetBytes(4 * int64(len(file)))
	for b.Loop() {
		countFrames(b, Merge(source1(b, file), source1(b, file), source1(b, file), source1(b, file)))
	}
	b.ReportMetric(4*float64(len(frames))*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mframes/s")
}

func readAll(b *testing.B, file []byte) {
	f, err := NewReader("bench", bytes.NewReader(file))
	if err != nil {
		b.Fatal(err)
	}
	var fr decode.Frame
	for {
		if err := f.Read(&fr); err == io.EOF {
			return
		} else if err != nil {
			b.Fatal(err)
		}
	}
}
