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

// known lists, by case and column, what no tap can know though the model does.
// Such a column must still not exceed the truth.
var known = map[string]map[string]string{
	"ecn-not-ect": {
		"lost_upstream":         "the whole tail of a message was dropped before the tap, so that its resend looks like a first sending",
		"retransmitted":         "see lost_upstream",
		"retransmitted_timeout": "see lost_upstream",
	},
	"incast-taildrop": {
		"lost_upstream":         "the whole tail of a message was dropped before the tap, so that its resend looks like a first sending",
		"retransmitted":         "see lost_upstream",
		"retransmitted_nak":     "see lost_upstream",
		"retransmitted_timeout": "see lost_upstream",
	},
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
			rows := rowsByName(analyze(t, filepath.Join(labelled, truth.File), truth.config()))
			for _, same := range sameCount {
				truth.compare(t, rows, same.column, same.model)
			}
		})
	}
}

// compare holds a column against the truth, in all and row by row.
func (l *labelledTruth) compare(t *testing.T, rows map[string]map[string]int64, name string, model []string) {
	t.Helper()
	total, want := int64(0), int64(0)
	for _, m := range model {
		want += l.Counts.Total[m]
	}
	exact, reason := true, known[l.Case][name]
	for _, m := range model {
		k := l.Counts.Knowable[m]
		exact = exact && !strings.Contains(k, "bound")
	}
	names := slices.Sorted(maps.Keys(l.Counts.Flows))
	for row := range rows {
		if l.Counts.Flows[row] == nil {
			names = append(names, row)
		}
	}
	for _, row := range names {
		got, want := rows[row][name], int64(0)
		for _, m := range model {
			want += l.Counts.Flows[row][m]
		}
		total += got
		switch {
		case l.Case == "gid-mixed": // where the model calls RoCEv1 addresses by names of its own
		case exact && reason == "" && got != want:
			t.Errorf("%s: %s is %d, want %d", row, name, got, want)
		case got > want && !l.sees(model, "upper bound"):
			t.Errorf("%s: %s is %d, which exceeds the truth, %d", row, name, got, want)
		}
	}
	least, most := l.limits(model, want)
	if reason != "" {
		least = 0
	}
	if total < least || total > most {
		t.Errorf("%s is %d, want %d to %d; the model holds %d", name, total, least, most, want)
	}
}

// sees reports whether the model says so of one of its counters.
func (l *labelledTruth) sees(model []string, what string) bool {
	return slices.ContainsFunc(model, func(m string) bool { return strings.HasPrefix(l.Counts.Knowable[m], what) })
}

// limits adds the limits of the counters that make up a column.
func (l *labelledTruth) limits(model []string, _ int64) (least, most int64) {
	for _, m := range model {
		a, b := limits(l.Counts.Knowable[m], l.Counts.Total[m])
		least, most = least+a, most+b
	}
	return least, most
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
