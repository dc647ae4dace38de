package report

import (
	"fmt"
	"math/rand/v2"
	"reflect"
)

// randomReport draws from few names, so that rows of different reports meet.
func randomReport(rnd *rand.Rand) *Report {
	r := &Report{Schema: Schema}
	for range rnd.IntN(3) {
		r.Captures = append(r.Captures, Capture{
			Name: pick(rnd, "a.pcap", "b.pcapng"), Format: "pcap", LinkTypes: []string{"Ethernet"},
			Frames: rnd.Int64N(3), FirstNs: rnd.Int64N(3),
		})
	}
	randomCounts(rnd, reflect.ValueOf(&r.Totals).Elem())
	for range rnd.IntN(20) {
		r.Flows = append(r.Flows, randomFlow(rnd))
	}
	for range rnd.IntN(3) {
		s := r.Section(pick(rnd, "pfc", "loss", "mtu"))
		if len(s.Measures)+len(s.Tables) == 0 {
			*s = randomSection(rnd, s.Name)
		}
	}
	r.Findings = []Finding{{Rule: "loss.upstream", Severity: Warning}}
	return r
}

func randomFlow(rnd *rand.Rand) Flow {
	var f Flow
	randomCounts(rnd, reflect.ValueOf(&f).Elem())
	f.Src, f.Dst = pick(rnd, "10.0.0.2", "10.0.0.10", "2001:db8::1"), "10.0.0.1"
	f.DestQP, f.Version, f.Transport = uint32(rnd.IntN(2)), 2, pick(rnd, "RC", "UD")
	f.SrcQP, f.PeerQP = randomQP(rnd), randomQP(rnd)
	if f.PeerQP != nil {
		f.PeerBy = pick(rnd, "cm", "responses", "source-port", "gossip")
	}
	if rnd.IntN(8) == 0 {
		f = Flow{Src: Other, Dst: Other, Frames: 1, Evidence: f.Evidence}
	}
	f.FirstNs = rnd.Int64N(20)
	f.LastNs = f.FirstNs + rnd.Int64N(8) - 1 // sometimes before the start
	f.UDPSourcePorts = randomList(rnd)
	f.DSCPs = randomList(rnd)
	f.AckRTT = randomHist(rnd)
	for range rnd.IntN(3) {
		f.Evidence = append(f.Evidence, randomEvidence(rnd))
	}
	return f
}

// randomCounts sets every field that is an int64.
func randomCounts(rnd *rand.Rand, v reflect.Value) {
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Int64 {
			f.SetInt(rnd.Int64N(10))
		}
	}
}

func randomQP(rnd *rand.Rand) *uint32 {
	if rnd.IntN(2) == 0 {
		return nil
	}
	n := uint32(rnd.IntN(3))
	return &n
}

func randomList(rnd *rand.Rand) []uint16 {
	var list []uint16
	for range rnd.IntN(4) {
		list = append(list, uint16(rnd.IntN(5)))
	}
	return list
}

func randomEvidence(rnd *rand.Rand) Evidence {
	e := Evidence{Kind: pick(rnd, "gap", "ce"), FirstNs: rnd.Int64N(9)}
	e.LastNs = e.FirstNs + rnd.Int64N(9)
	for range rnd.IntN(30) {
		e.Count++
		e.Frames = append(e.Frames, uint64(1+rnd.IntN(60)))
	}
	return e
}

func randomSection(rnd *rand.Rand, name string) Section {
	s := Section{Name: name}
	kinds := []Kind{Sum, Peak, Floor}
	for i, k := range kinds {
		if rnd.IntN(2) == 0 {
			s.Measures = append(s.Measures, Measure{
				Name: fmt.Sprint("m", i), Unit: "frames", Kind: k, Help: pick(rnd, "", "what it is"), Value: rnd.Int64N(9),
			})
		}
	}
	t := Table{Name: "host", Keys: []string{"host"}}
	for i, k := range kinds {
		t.Columns = append(t.Columns, Column{Name: fmt.Sprint("c", i), Kind: k})
	}
	for range rnd.IntN(4) {
		t.Rows = append(t.Rows, Row{
			Key:    []string{pick(rnd, "10.0.0.2", "10.0.0.10", "7", "any")},
			Values: []int64{rnd.Int64N(9), rnd.Int64N(9), rnd.Int64N(9)},
		})
	}
	s.Tables = append(s.Tables, t)
	return s
}

func pick[T any](rnd *rand.Rand, of ...T) T { return of[rnd.IntN(len(of))] }
