package detect

import (
	"fmt"
	"slices"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
)

// predicted says how the traffic would spread over the links there are, where
// their number is known. What each family expects becomes a table of the section,
// which stands for this run alone.
func predicted(r *report.Report, c *analysis.Config) []report.Finding {
	forget(r)
	if c.Links < 2 {
		return nil
	}
	keys := hashKeys(r, nil)
	var frames, bytes int64
	for _, row := range r.Rows("entropy", "paths") {
		frames, bytes = frames+row.Values[1], bytes+row.Values[2]
	}
	if len(keys) == 0 {
		return nil
	}
	t := report.Table{Name: "prediction", Help: fmt.Sprintf("The busiest of %d links in hundredths of its fair share, by hash family, over %d seeds.", c.Links, hashSeeds),
		Keys:    []string{"family", "hashed"},
		Columns: []report.Column{{Name: "least", Kind: report.Floor}, {Name: "median", Kind: report.Peak}, {Name: "most", Kind: report.Peak}}}
	for i := range hashFamilies {
		for _, withQP := range []bool{false, true} {
			hashed := "addresses, ports"
			if withQP {
				hashed += ", queue pair"
			}
			p := hashFamilies[i].predict(keys, c.Links, withQP)
			t.Rows = append(t.Rows, report.Row{Key: []string{hashFamilies[i].name, hashed}, Values: []int64{p.least, p.median, p.most}})
		}
	}
	addTable(r, "ecmp", t)
	median := medianOf(keys, c.Links, false)
	if float64(median) <= 100*c.Limits.Hottest || frames < int64(c.Limits.MemberFrames) || len(keys) < c.Links {
		return nil // fewer queue pairs than links leave some idle, whatever the hash
	}
	return []report.Finding{predictedFinding(r, c, keys, &t, median, bytes)}
}

// forget takes out the prediction of an earlier judgement.
func forget(r *report.Report) {
	for i := range r.Sections {
		if s := &r.Sections[i]; s.Name == "ecmp" {
			s.Tables = slices.DeleteFunc(s.Tables, func(t report.Table) bool { return t.Name == "prediction" })
		}
	}
}

func predictedFinding(r *report.Report, c *analysis.Config, keys []hashKey, t *report.Table, median, bytes int64) report.Finding {
	loads := map[[tupleLen]byte]int64{}
	for i := range keys {
		loads[keys[i].tuple()] += keys[i].load
	}
	var largest int64
	for _, n := range loads {
		largest = max(largest, n)
	}
	withQP := medianOf(keys, c.Links, true)
	f := report.Finding{
		Rule: "ecmp.imbalance", Severity: report.Info, Confidence: report.Possible, Count: int64(len(loads)), Frames: []uint64{},
		Values: map[string]int64{"links": int64(c.Links), "hash_keys": int64(len(loads)), "queue_pairs": int64(len(keys)), "largest_key_bytes": largest, "bytes": bytes,
			"predicted_x100": median, "predicted_with_qp_x100": withQP},
		Filter: "infiniband && udp.dstport == 4791",
	}
	f.FirstNs, f.LastNs = span(pointers(r.Flows))
	text := ""
	for _, row := range t.Rows {
		if row.Key[1] == "addresses, ports" {
			f.Values[row.Key[0]+"_least_x100"], f.Values[row.Key[0]+"_median_x100"], f.Values[row.Key[0]+"_most_x100"] = row.Values[0], row.Values[1], row.Values[2]
			text += fmt.Sprintf(", %s %s (%s to %s)", row.Key[0], decimal(row.Values[1]), decimal(row.Values[0]), decimal(row.Values[2]))
		}
	}
	f.Summary = fmt.Sprintf("Over %d equal-cost links this traffic would put %s times the fair share on the busiest one, in the middle of common hash families%s; it has %s, the largest with %s of the bytes, in %s (%s times with the queue pair in the hash).",
		c.Links, decimal(median), text, report.Counted(int64(len(loads)), "hash key"), report.Share(largest, bytes), report.Counted(int64(len(keys)), "queue pair"), decimal(withQP))
	// Few keys for many queue pairs are a setting that can be changed; as many keys
	// as links, or a few more, collide by chance, with any hash.
	if len(loads) < c.Links {
		f.Severity, f.Confidence = report.Warning, report.Likely
	}
	f.Not = "Not measured: a prediction for the traffic of this capture alone, as if all of it crossed the same links. The hash functions of vendors are not public, and a switch's own may differ."
	f.Advice = "More hash keys spread better: a UDP source port for each queue pair, more queue pairs to each peer, or the BTH destination queue pair in the switch's hash. The table \"prediction\" holds each family; counters of the uplinks tell what happens."
	return f
}
