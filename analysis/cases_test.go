package analysis_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
)

// labelledTruth is what the model of a labelled capture knows of it.
type labelledTruth struct {
	Case   string              `json:"case"`
	File   string              `json:"file"`
	Rate   float64             `json:"link_rate_gbps"`
	Pairs  [][]string          `json:"pairs"` // src, dst, the queue pair at dst, and at src
	Frames map[string][]uint64 `json:"frames"`
	Counts struct {
		Total    map[string]int64            `json:"total"`
		Flows    map[string]map[string]int64 `json:"flows"`
		Knowable map[string]string           `json:"knowable"`
	} `json:"counts"`
}

func (l *labelledTruth) config() *analysis.Config {
	c := oneWorker()
	c.LinkRate = l.Rate * 1e9
	return c
}

// sameCount says which counters of the model make up a column. The model
// tells datagrams apart from requests, the columns do not.
var sameCount = []struct {
	column string
	model  []string
}{
	{"frames", []string{"packets"}},
	{"response_frames", []string{"response_packets"}},
	{"acks", []string{"acks"}},
	{"mirror_duplicates", []string{"mirror_duplicates"}},
	{"lost_upstream", []string{"lost_upstream_requests", "lost_upstream_datagrams"}},
	{"lost_downstream", []string{"lost_downstream_requests"}},
	{"response_lost_upstream", []string{"lost_upstream_responses"}},
	{"response_lost_downstream", []string{"lost_downstream_responses"}},
	{"not_captured", []string{"missed_by_tap_requests"}},
	{"response_not_captured", []string{"missed_by_tap_responses"}},
	{"reordered", []string{"reordered_requests"}},
	{"retransmitted", []string{"retransmitted_nak", "retransmitted_timeout", "retransmitted_rnr", "retransmitted_implied_nak"}},
	{"retransmitted_nak", []string{"retransmitted_nak"}},
	{"retransmitted_timeout", []string{"retransmitted_timeout"}},
	{"retransmitted_rnr", []string{"retransmitted_rnr"}},
	{"retransmitted_implied", []string{"retransmitted_implied_nak"}},
	{"response_retransmitted", []string{"retransmitted_read_retry"}},
	{"naks_psn_sequence", []string{"nak_psn_sequence_error"}},
	{"naks_invalid_request", []string{"nak_invalid_request"}},
	{"naks_remote_access", []string{"nak_remote_access"}},
	{"naks_remote_operational", []string{"nak_remote_operational"}},
	{"rnr_naks", []string{"rnr_naks"}},
	{"ce_frames", []string{"ce"}},
	{"cnps", []string{"cnp"}},
	{"icrc_bad", []string{"icrc_bad"}},
}

// unseen is why a tap cannot count some resends.
const unseen = "the last packets before the resend were dropped before the tap, so that their resends look like first sendings"

// known lists, by case and column, what no tap can know though the model does.
// Such a column must still not exceed the truth.
var known = map[string]map[string]string{
	"ecn-not-ect":        {"lost_upstream": unseen, "retransmitted": unseen, "retransmitted_timeout": unseen},
	"incast-taildrop":    {"lost_upstream": unseen, "retransmitted": unseen, "retransmitted_timeout": unseen, "retransmitted_nak": unseen},
	"class-dscp-outlier": {"lost_upstream": unseen, "retransmitted": unseen, "retransmitted_nak": unseen},
	"capture-one-direction-loss": {
		"retransmitted_nak": "the NAKs travel in the direction that was not captured",
	},
	"capture-missed": {
		"not_captured": "a packet missed at the very end of a stream leaves no hole",
	},
}

// limits tells between which numbers a count of ours may lie, given the
// model's and what it says can be known of it.
func limits(knowable string, truth int64) (least, most int64) {
	stated := truth
	if m := here.FindStringSubmatch(knowable); m != nil {
		stated, _ = strconv.ParseInt(m[1], 10, 64)
	}
	switch {
	case strings.HasPrefix(knowable, "upper bound"): // of what is seen, the truth may be less
		return truth, max(truth, stated)
	case strings.HasPrefix(knowable, "lower bound") && strings.Contains(knowable, " here)"):
		return min(stated, truth), truth
	case strings.HasPrefix(knowable, "lower bound"):
		return min(1, truth), truth
	}
	return truth, truth
}

// here finds the number in "(13 NAKs here)".
var here = regexp.MustCompile(`\((\d+)(?: NAKs)? here`)

func TestLabelledCapturesEqualTheirTruth(t *testing.T) {
	for _, path := range glob(t, labelled, "*.truth.json") {
		var truth labelledTruth
		readJSON(t, path, &truth)
		t.Run(truth.Case, func(t *testing.T) {
			r := analyze(t, filepath.Join(labelled, truth.File), truth.config())
			truth.compareTotals(t, r)
			rows := rowsByName(r)
			for _, same := range sameCount {
				truth.compareRows(t, rows, same.column, same.model)
				truth.compareSum(t, rows, same.column, same.model)
			}
		})
	}
}

// compareTotals compares what is counted over all frames.
func (l *labelledTruth) compareTotals(t *testing.T, r *report.Report) {
	t.Helper()
	n, want := &r.Totals, l.Counts.Total
	for _, c := range []struct {
		what      string
		got, want int64
	}{
		{"frames", n.Frames, want["packets"]},
		{"RoCE frames", n.RoCE, want["roce_packets"]},
		{"PFC frames", n.PFC, want["pfc_xoff"] + want["pfc_xon"]},
		{"PAUSE frames", n.Pause, want["pause_xoff"] + want["pause_xon"]},
	} {
		if c.got != c.want {
			t.Errorf("%d %s, want %d", c.got, c.what, c.want)
		}
	}
}

// compareRows compares a column row by row: with the truth where it can be
// known exactly, and never above it where it cannot.
func (l *labelledTruth) compareRows(t *testing.T, rows map[string]map[string]int64, name string, model []string) {
	t.Helper()
	exact := known[l.Case][name] == "" && !l.says(model, "lower bound") && !l.says(model, "upper bound")
	for _, row := range l.rowNames(rows) {
		got, want := rows[row][name], int64(0)
		for _, m := range model {
			want += l.Counts.Flows[row][m]
		}
		switch {
		case exact && got != want:
			t.Errorf("%s: %s is %d, want %d", row, name, got, want)
		case got > want && !l.says(model, "upper bound"):
			t.Errorf("%s: %s is %d, which exceeds the truth, %d", row, name, got, want)
		}
	}
}

// rowNames returns the names of the rows of both sides. The model calls
// RoCEv1 addresses by names of its own; such rows count in the sum alone.
func (l *labelledTruth) rowNames(rows map[string]map[string]int64) []string {
	names := map[string]bool{}
	for name := range rows {
		names[name] = true
	}
	for name := range l.Counts.Flows {
		names[name] = true
	}
	maps.DeleteFunc(names, func(name string, _ bool) bool {
		return strings.HasPrefix(name, "v1:") || strings.HasPrefix(name, "fe80:")
	})
	return slices.Sorted(maps.Keys(names))
}

// compareSum compares a column added over all rows.
func (l *labelledTruth) compareSum(t *testing.T, rows map[string]map[string]int64, name string, model []string) {
	t.Helper()
	var got, least, most int64
	for _, row := range rows {
		got += row[name]
	}
	for _, m := range model {
		a, b := limits(l.Counts.Knowable[m], l.Counts.Total[m])
		least, most = least+a, most+b
	}
	if known[l.Case][name] != "" {
		least = 0
	}
	if name != "frames" && (got < least || got > most) { // frames of no row count there, see compareTotals
		t.Errorf("%s is %d in all, want %d to %d", name, got, least, most)
	}
}

// says reports whether the model says so of what can be known of a counter.
func (l *labelledTruth) says(model []string, what string) bool {
	return slices.ContainsFunc(model, func(m string) bool { return strings.HasPrefix(l.Counts.Knowable[m], what) })
}

// rowsByName adds the rows of a report that the model calls by one name.
func rowsByName(r *report.Report) map[string]map[string]int64 {
	out := map[string]map[string]int64{}
	for i := range r.Flows {
		f := &r.Flows[i]
		name := fmt.Sprintf("%s>%s qp=0x%06x", f.Src, f.Dst, f.DestQP)
		if out[name] == nil {
			out[name] = map[string]int64{}
		}
		for c := range columns {
			out[name][c] += column(f, c)
		}
	}
	return out
}
