package detect

import (
	"fmt"
	"slices"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode/ib"
)

// Capture tells what the capture itself lacks.
var Capture = add(analysis.Analyzer{
	Name: "capture",
	Doc: "What did the capture miss, and what can therefore not be known?\n\n" +
		"Packets that the capture lost, directions it does not see, copies, cut frames and damaged files look like\n" +
		"network faults to the unwary.",
	Rules: captureRules,
	New:   newCapture,
	Judge: judgeCapture,
})

// capture notes for each row whether it goes on, which proves that answers
// exist even where none is captured, and what it calls copies by their time alone.
type capture struct {
	flows perRow[progress]
	alike int64 // copies that may be second answers
}

// progress is how far a row's requests, or the responses in it, show life.
type progress struct {
	requests, responses int32
	fresh               int32 // requests that were sent the first time
	stuck               bool  // the last request was a resend
}

func newCapture(*analysis.Config) analysis.Observer { return &capture{} }

func (c *capture) Observe(b *analysis.Batch) {
	c.flows.warm(b)
	for i := range b.Streaks {
		r := &b.Streaks[i]
		p := b.Head(r)
		if t := p.Op.Transport(); t != ib.RC && t != ib.XRC || !r.Counts() {
			continue
		}
		f := c.flows.at(r.Flow)
		switch {
		case p.Op.Is(ib.IsResponse):
			f.responses += int32(r.Len())
		case p.Op.Is(ib.IsRequest):
			f.requests += int32(r.Len())
			f.stuck = r.Verdict&analysis.Resent != 0
			if !f.stuck {
				f.fresh += int32(r.Len())
			}
		}
	}
	for i := range b.Events {
		if e := &b.Events[i]; e.Kind == analysis.MirrorDuplicate && e.Value == 1 {
			c.alike += int64(e.Count)
		}
	}
}

func (c *capture) Report(r *report.Report) {
	t := report.Table{
		Name: "directions", Help: "Reliable connections by direction: all rows, and those that prove that answers exist.",
		Keys: []string{"src", "dst"}, Columns: columns("", "queue_pairs", "going_on", "fresh_requests"),
	}
	var sums report.Tally[hosts]
	for id, x := range c.flows.of(r) {
		f := &r.Flows[id]
		if f.Src == report.Other || x.requests+x.responses == 0 {
			continue
		}
		goingOn := oneIf(x.responses > 0 || !x.stuck)
		sums.Add(&t, hostsOf(f), []int64{1, goingOn, int64(x.fresh)}, func() []string { return []string{f.Src, f.Dst} })
	}
	addTable(r, "capture", t)
	if c.alike > 0 {
		addTable(r, "capture", report.Table{
			Name: "alike", Help: "Acknowledgements that count as copies since they came soon behind one alike.",
			Keys: []string{"what"}, Columns: columns("frames", "copies"),
			Rows: []report.Row{{Key: []string{"acks"}, Values: []int64{c.alike}}},
		})
	}
}

func judgeCapture(r *report.Report, c *analysis.Config) []report.Finding {
	return slices.Concat(doubtSides(r, &c.Limits, captureMissed(r)), mirrorLost(r), captureDropped(r), captureDuplicated(r), captureClock(r, c), oneDirection(r, &c.Limits), captureTruncated(r), captureDamaged(r), noRoCE(r), uetPresent(r))
}

// oneDirection finds host pairs of which one direction is not in the capture
// although it must exist.
func oneDirection(r *report.Report, l *analysis.Limits) []report.Finding {
	seen := map[hosts][]*report.Flow{}
	for _, g := range groupBy(r, hostsOf) {
		seen[g.key] = g.flows
	}
	both := false // some pair of hosts is seen both ways
	for h := range seen {
		both = both || len(seen[h.back()]) > 0
	}
	var out []report.Finding
	for _, row := range r.Rows("capture", "directions") {
		h := hosts{row.Key[0], row.Key[1]}
		if len(seen[h.back()]) > 0 || row.Values[1] == 0 {
			continue
		}
		flows := seen[h]
		if total(flows, func(f *report.Flow) int64 { return f.ResponseFrames }) == 0 && row.Values[2] < int64(l.OneWay) {
			continue // so much may be on its way to a dead peer
		}
		first, last := span(flows)
		if frames := total(flows, func(f *report.Flow) int64 { return f.Frames }); last-first < l.Glimpse && (both || frames < int64(l.GlimpseFrames) || row.Values[2] == 0) {
			continue // the other side may have passed before the capture began, or after it ended
		}
		out = append(out, report.Finding{
			Rule: "capture.one-direction", Severity: report.Notice, Confidence: report.Likely, Flow: only(flows), FirstNs: first, LastNs: last, Count: row.Values[0],
			Values: map[string]int64{"queue_pairs": row.Values[0], "frames": total(flows, func(f *report.Flow) int64 { return f.Frames })},
			Summary: fmt.Sprintf("Of %s between %s and %s only what travels towards %s is in the capture: losses behind the tap, NAKs and round trips of them cannot be known.",
				report.Counted(row.Values[0], "queue pair"), h.src, h.dst, h.dst),
			Not:    "Not a silent peer: the sender goes on, which it would not without answers.",
			Advice: "Mirror both directions, or both fibres; under asymmetric routing the way back takes another switch.",
			Filter: "(" + between(h) + ") || (" + between(h.back()) + ")",
		})
	}
	return condense(out, "host pair", "infiniband")
}
