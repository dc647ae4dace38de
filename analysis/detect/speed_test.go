package detect

import (
	"bytes"
	"testing"

	"github.com/rocescope/rocescope/analysis"
	source "github.com/rocescope/rocescope/decode/capture"
	"github.com/rocescope/rocescope/pcaps/synth"
)

// bulk is a capture of a busy link as batches, few enough to stay in the cache,
// as those that are on their way do.
func bulk(b *testing.B) (batches []analysis.Batch, packets int) {
	var file bytes.Buffer
	if _, err := (synth.Bulk{Packets: 2_000, Connections: 128, HostPairs: 16, Train: 16,
		File: synth.File{Format: synth.Pcap, SnapLen: 96}, Seed: 1}).Write(&file); err != nil {
		b.Fatal(err)
	}
	src, err := source.NewReader("bulk", &file)
	if err != nil {
		b.Fatal(err)
	}
	batches = batchesOf(b, src)
	for i := range batches {
		packets += len(batches[i].Packets)
	}
	return batches, packets
}

// BenchmarkAnalyzers tells what the observer of each analyzer costs.
func BenchmarkAnalyzers(b *testing.B) {
	batches, packets := bulk(b)
	for _, a := range All() {
		if a.New == nil {
			continue
		}
		b.Run(a.Name, func(b *testing.B) {
			o := a.New(analysis.Defaults(1))
			for b.Loop() {
				for i := range batches {
					batches[i].Notes = batches[i].Notes[:0]
					o.Observe(&batches[i])
				}
			}
			perPacket(b, packets)
		})
	}
}

// BenchmarkWatchers tells what each watcher costs, together with the trains they
// share, which "none" and "all" tell alone and with all of them.
func BenchmarkWatchers(b *testing.B) {
	batches, packets := bulk(b)
	run := func(name string, ws ...analysis.Watcher) {
		b.Run(name, func(b *testing.B) {
			look := analysis.NewLookout(ws...)
			for b.Loop() {
				for i := range batches {
					for j := range batches[i].Packets {
						look.Add(&batches[i].Packets[j])
					}
				}
				look.Show()
			}
			perPacket(b, packets)
		})
	}
	var all []analysis.Watcher
	run("none", idle{})
	for _, a := range All() {
		if a.Watch != nil {
			all = append(all, a.Watch(analysis.Defaults(1)))
			run(a.Name, a.Watch(analysis.Defaults(1)))
		}
	}
	run("all", all...)
}

func perPacket(b *testing.B, packets int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(packets), "ns/packet")
}

// idle watches nothing.
type idle struct{ analysis.Watcher }

func (idle) Watch([]analysis.Train, analysis.Sorts) {}
