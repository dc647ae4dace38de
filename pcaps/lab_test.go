package pcaps_test

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/pcaps"
)

// recorded reports whether a sample was recorded in the laboratory.
func recorded(s *pcaps.Sample) bool { return strings.HasPrefix(s.Name, "lab-") }

// labTruth is what the kernel, tc and the comparison of taps say of a recorded
// sample, in NAME.truth.json.
type labTruth struct {
	Rows []labRow
}

type labRow struct {
	Src, Dst           string
	DestQP             uint32 `json:"dest_qp"`
	Frames             int64
	Resent             int64 `json:"resent_requests"`
	ResentResponses    int64 `json:"resent_responses"`
	Copies             int64
	Marked             int64 `json:"ce_frames"`
	BadICRC            int64 `json:"icrc_bad"`
	LostBefore         int64 `json:"lost_before"`
	LostBehind         int64 `json:"lost_behind"`
	ResponsesLostAbove int64 `json:"responses_lost_before"`
	ResponsesLostBelow int64 `json:"responses_lost_behind"`
	NotCaptured        int64 `json:"not_captured"`
	NAKs               map[string]int64
}

// lowerBounds are the columns of recorded samples in which less can be known
// than happened, and why.
var lowerBounds = map[string]map[string]string{
	"lost_downstream": {
		"lab-ecn-not-ect":   "go-back-N throws away what follows a loss, and with it what was lost there",
		"lab-loss-many-qps": "the same",
		"lab-blackout":      "a timeout shows one loss, however many there were",
		"lab-loss-datagram": "nothing tells of a datagram that is lost behind the tap",
	},
	"lost_upstream": {
		"lab-incast":          "the ends of messages were lost with nothing behind them",
		"lab-loss-read-heavy": "requests were lost with nothing behind them",
	},
	"retransmitted": {
		"lab-incast":          "what was lost with nothing behind it looks new when it is sent again",
		"lab-loss-read-heavy": "the same",
	},
}

// TestRecordedSamplesHoldTheirTruth holds the analysis against the counters of
// the machine that made the packets: it may never count more than happened, and
// less only where lowerBounds says why.
func TestRecordedSamplesHoldTheirTruth(t *testing.T) {
	for _, s := range pcaps.List() {
		if !recorded(&s) {
			continue
		}
		data, err := os.ReadFile(s.Name + ".truth.json")
		if err != nil {
			t.Error(err)
			continue
		}
		var truth labTruth
		if err := json.NewDecoder(bytes.NewReader(data)).Decode(&truth); err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		r := analyze(t, s.File, s.Data)
		for i := range truth.Rows {
			truth.Rows[i].compare(t, s.Name, r)
		}
	}
}

func (x *labRow) compare(t *testing.T, sample string, r *report.Report) {
	t.Helper()
	var rows []*report.Flow
	for i := range r.Flows {
		if f := &r.Flows[i]; f.Src == x.Src && f.Dst == x.Dst && f.DestQP == x.DestQP {
			rows = append(rows, f)
		}
	}
	sum := func(of func(*report.Flow) int64) int64 {
		n := int64(0)
		for _, f := range rows {
			n += of(f)
		}
		return n
	}
	for _, c := range []struct {
		column string
		want   int64
		got    func(*report.Flow) int64
	}{
		{"frames", x.Frames, func(f *report.Flow) int64 { return f.Frames }},
		{"retransmitted", x.Resent, func(f *report.Flow) int64 { return f.Retransmitted }},
		{"response_retransmitted", x.ResentResponses, func(f *report.Flow) int64 { return f.ResponseRetransmitted }},
		{"mirror_duplicates", x.Copies, func(f *report.Flow) int64 { return f.MirrorDuplicates }},
		{"ce_frames", x.Marked, func(f *report.Flow) int64 { return f.CE }},
		{"icrc_bad", x.BadICRC, func(f *report.Flow) int64 { return f.ICRCBad }},
		{"lost_upstream", x.LostBefore, func(f *report.Flow) int64 { return f.LostUpstream }},
		{"lost_downstream", x.LostBehind + x.BadICRC, func(f *report.Flow) int64 { return f.LostDownstream }},
		{"response_lost_upstream", x.ResponsesLostAbove, func(f *report.Flow) int64 { return f.ResponseLostUpstream }},
		{"response_lost_downstream", x.ResponsesLostBelow, func(f *report.Flow) int64 { return f.ResponseLostDownstream }},
		{"not_captured", x.NotCaptured, func(f *report.Flow) int64 { return f.NotCaptured + f.ResponseNotCaptured }},
		{"naks", x.naks(), (*report.Flow).NAKs},
	} {
		got := sum(c.got)
		if _, lower := lowerBounds[c.column][sample]; got == c.want || lower && got < c.want {
			continue
		}
		t.Errorf("%s: %s > %s %#x: %s is %d, want %d", sample, x.Src, x.Dst, x.DestQP, c.column, got, c.want)
	}
}

func (x *labRow) naks() int64 {
	n := int64(0)
	for _, v := range x.NAKs {
		n += v
	}
	return n
}

func TestNoLowerBoundIsForASampleThatIsGone(t *testing.T) {
	for column, samples := range lowerBounds {
		for name := range samples {
			if !slices.ContainsFunc(pcaps.List(), func(s pcaps.Sample) bool { return s.Name == name }) {
				t.Errorf("%s: there is no sample %s", column, name)
			}
		}
	}
}
