package diagnose

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/analysis/report"
)

// flow is a row of a test's report.
func flow(src, dst string, qp, peer uint32, change func(*report.Flow)) report.Flow {
	f := report.Flow{Src: src, Dst: dst, DestQP: qp, PeerQP: &peer, Transport: "RC", Frames: 100, FirstNs: 100, LastNs: 900}
	if change != nil {
		change(&f)
	}
	return f
}

func lost(n int64) func(*report.Flow) { return func(f *report.Flow) { f.LostUpstream = n } }

func ref(src, dst string, qp uint32) *report.FlowRef {
	return &report.FlowRef{Src: src, Dst: dst, DestQP: qp}
}

// explainedBy returns the rule that explains the last finding, empty where none
// does.
func explainedBy(flows []report.Flow, findings ...report.Finding) string {
	r := &report.Report{Flows: flows, Findings: findings, Totals: report.Totals{RoCE: 1}}
	Apply(r)
	if by := findings[len(findings)-1].ExplainedBy; by != nil {
		return findings[*by].Rule
	}
	return ""
}

func TestCausesAreJoined(t *testing.T) {
	burst := report.Finding{Rule: "incast.burst", Severity: report.Warning, Host: "10.0.0.9", FirstNs: 200, LastNs: 300}
	toNine := []report.Flow{flow("10.0.0.1", "10.0.0.9", 1, 2, lost(5)), flow("10.0.0.2", "10.0.0.9", 3, 4, lost(5)), flow("10.0.0.1", "10.0.0.3", 5, 6, nil)}
	loss := report.Finding{Rule: "loss.upstream", Severity: report.Warning, Flow: ref("10.0.0.1", "10.0.0.9", 1), FirstNs: 210, LastNs: 220}
	with := func(f report.Finding, change func(*report.Finding)) report.Finding {
		change(&f)
		return f
	}
	late := []report.Flow{flow("10.0.0.1", "10.0.0.5", 9, 10, func(f *report.Flow) { f.NeedlessNAKs, f.LostDownstream = 40, 1 })}
	needless := report.Finding{Rule: "reorder.spurious-nak", Severity: report.Warning, Flow: ref("10.0.0.1", "10.0.0.5", 9)}
	possible := report.Finding{Rule: "loss.downstream", Severity: report.Warning, Confidence: report.Possible, Flow: ref("10.0.0.1", "10.0.0.5", 9)}
	for _, test := range []struct {
		desc     string
		flows    []report.Flow
		findings []report.Finding
		want     string
	}{
		{"loss on a flow of the burst, behind its start", toNine, []report.Finding{burst, loss}, "incast.burst"},
		{"loss that was over when the burst began", toNine,
			[]report.Finding{burst, with(loss, func(f *report.Finding) { f.FirstNs, f.LastNs = 100, 150 })}, ""},
		{"loss towards another host", toNine,
			[]report.Finding{burst, with(loss, func(f *report.Finding) { f.Flow = ref("10.0.0.1", "10.0.0.3", 5) })}, ""},
		{"losses of many flows in one finding, all towards the receiver", toNine,
			[]report.Finding{burst, with(loss, func(f *report.Finding) { f.Flow = nil })}, "incast.burst"},
		{"losses of many flows in one finding, half of them elsewhere",
			append(slices.Clone(toNine), flow("10.0.0.1", "10.0.0.4", 7, 8, lost(10))),
			[]report.Finding{burst, with(loss, func(f *report.Finding) { f.Flow = nil })}, ""},
		{"a flow that is not in the report", nil, []report.Finding{burst, loss}, ""},
		{"the resends of a dead queue pair", toNine, []report.Finding{
			{Rule: "peer.silent", Severity: report.Critical, Flow: ref("10.0.0.1", "10.0.0.9", 1)},
			{Rule: "retransmit.exhausted", Severity: report.Critical, Flow: ref("10.0.0.1", "10.0.0.9", 1)},
		}, "peer.silent"},
		{"the resends of another queue pair", toNine, []report.Finding{
			{Rule: "peer.silent", Severity: report.Critical, Flow: ref("10.0.0.2", "10.0.0.9", 3)},
			{Rule: "retransmit.exhausted", Severity: report.Critical, Flow: ref("10.0.0.1", "10.0.0.9", 1)},
		}, ""},
		{"queue pairs that died between the two hosts of a black hole", toNine, []report.Finding{
			{Rule: "mtu.blackhole", Severity: report.Critical, Host: "10.0.0.1", Toward: "10.0.0.9"},
			{Rule: "retransmit.exhausted", Severity: report.Critical, Host: "10.0.0.1", Toward: "10.0.0.9"},
		}, "mtu.blackhole"},
		{"queue pairs that died between others", toNine, []report.Finding{
			{Rule: "mtu.blackhole", Severity: report.Critical, Host: "10.0.0.2", Toward: "10.0.0.9"},
			{Rule: "retransmit.exhausted", Severity: report.Critical, Host: "10.0.0.1", Toward: "10.0.0.9"},
		}, ""},
		{"one loss among NAKs that late packets drew", late, []report.Finding{needless, possible}, "reorder.spurious-nak"},
		{"a loss that is more than possible", late, []report.Finding{needless, with(possible, func(f *report.Finding) { f.Confidence = report.Likely })}, ""},
		{"a loss in another flow", append(late, toNine...), []report.Finding{needless,
			with(possible, func(f *report.Finding) { f.Flow = ref("10.0.0.1", "10.0.0.9", 1) })}, ""},
		{"notifications without a NAK nearby are not explained by a loss", toNine, []report.Finding{
			loss, {Rule: "cnp.without-ce", Severity: report.Notice, Flow: ref("10.0.0.9", "10.0.0.1", 2)},
		}, ""},
	} {
		if got := explainedBy(test.flows, test.findings...); got != test.want {
			t.Errorf("%s: explained by %q, want %q", test.desc, got, test.want)
		}
	}
}

// A cause that followed from its own consequence would leave the report without
// a first sentence.
func TestCausesCloseNoCircle(t *testing.T) {
	follows := func(effect, rule string) bool {
		return slices.ContainsFunc(causes, func(c cause) bool { return c.rule == rule && c.mayExplain(effect) })
	}
	var reach func(from, to string, seen map[string]bool) bool
	reach = func(from, to string, seen map[string]bool) bool {
		if seen[from] {
			return false
		}
		seen[from] = true
		for i := range causes {
			if rule := causes[i].rule; follows(from, rule) && (rule == to || reach(rule, to, seen)) {
				return true
			}
		}
		return false
	}
	for i := range causes {
		if rule := causes[i].rule; reach(rule, rule, map[string]bool{}) {
			t.Errorf("%s may follow from itself", rule)
		}
	}
}

func TestEffectsArePatternsThatFit(t *testing.T) {
	for i := range causes {
		c := &causes[i]
		if !strings.HasSuffix(c.how, ".") {
			t.Errorf("%s: %q is no sentence", c.rule, c.how)
		}
		for _, e := range c.effects {
			if _, err := path.Match(e, ""); err != nil {
				t.Errorf("%s: %q: %v", c.rule, e, err)
			}
		}
	}
}

func TestHeadlineNamesTheRootAndWhatFollows(t *testing.T) {
	r := &report.Report{
		Totals: report.Totals{RoCE: 1},
		Flows:  []report.Flow{flow("10.0.0.1", "10.0.0.9", 1, 2, lost(5)), flow("10.0.0.2", "10.0.0.9", 3, 4, lost(5))},
		Findings: []report.Finding{
			{Rule: "loss.upstream", Severity: report.Warning, Summary: "Lost.", Flow: ref("10.0.0.1", "10.0.0.9", 1), LastNs: 9},
			{Rule: "loss.upstream", Severity: report.Warning, Summary: "Lost, too.", Flow: ref("10.0.0.2", "10.0.0.9", 3), LastNs: 9},
			{Rule: "retransmit.timeout", Severity: report.Warning, Summary: "Late.", Flow: ref("10.0.0.2", "10.0.0.9", 3), LastNs: 9},
			{Rule: "incast.burst", Severity: report.Warning, Summary: "Two send to one.", Host: "10.0.0.9"},
		},
	}
	Apply(r)
	if want := "Two send to one. That explains loss.upstream (2 findings) and retransmit.timeout."; r.Headline != want {
		t.Errorf("%q, want %q", r.Headline, want)
	}
	r.Findings = append(r.Findings, report.Finding{Rule: "incast.burst", Severity: report.Warning, Summary: "Three send to another.", Host: "10.0.0.8"},
		report.Finding{Rule: "icrc.sender", Severity: report.Warning, Summary: "Bad.", Host: "10.0.0.7"},
		report.Finding{Rule: "ecn.marked", Severity: report.Notice, Summary: "Marked.", Host: "10.0.0.7"})
	Apply(r)
	if want := "Two send to one. That explains loss.upstream (2 findings) and retransmit.timeout. 1 more finding is alike. Besides: icrc.sender."; r.Headline != want {
		t.Errorf("%q, want %q", r.Headline, want)
	}
	again := r.Headline
	Apply(r)
	if r.Headline != again {
		t.Errorf("the second time it is %q", r.Headline)
	}
}

func TestUnknowns(t *testing.T) {
	whats := func(r *report.Report) (out []string) {
		for _, u := range unknowns(r) {
			out = append(out, u.What)
			if !strings.HasSuffix(u.Why, ".") || !strings.HasSuffix(u.Instead, ".") {
				t.Errorf("%s: no sentence: %q %q", u.What, u.Why, u.Instead)
			}
		}
		return out
	}
	both := []report.Flow{flow("10.0.0.1", "10.0.0.2", 11, 12, nil), flow("10.0.0.2", "10.0.0.1", 12, 11, nil)}
	managed := append(slices.Clone(both), report.Flow{Src: "10.0.0.1", Dst: "10.0.0.2", DestQP: 1, Transport: "UD"})
	for _, test := range []struct {
		desc string
		r    report.Report
		want []string
	}{
		{"nothing of RoCE leaves nothing open", report.Report{Totals: report.Totals{Malformed: 3}}, nil},
		{"connections and pauses in view", report.Report{Totals: report.Totals{RoCE: 1, PFC: 1}, Flows: managed}, nil},
		{"a mirror without MAC control frames", report.Report{Totals: report.Totals{RoCE: 1}, Flows: managed}, []string{"pauses"}},
		{"no connection management", report.Report{Totals: report.Totals{RoCE: 1, PFC: 1}, Flows: both}, []string{"how the queue pairs were set up"}},
		{"one direction of one pair of hosts", report.Report{Totals: report.Totals{RoCE: 1, PFC: 1}, Flows: append(slices.Clone(managed), flow("10.0.0.1", "10.0.0.3", 7, 8, nil))},
			[]string{"losses behind the tap and round trips of 1 host pair"}},
		{"one direction of all", report.Report{Totals: report.Totals{RoCE: 1, Pause: 1}, Flows: append(slices.Clone(both[:1]), managed[2])},
			[]string{"losses behind the tap and round trips"}},
		{"frames cut", report.Report{Totals: report.Totals{RoCE: 1, PFC: 1, ICRCUnchecked: 5}, Flows: managed}, []string{"the ICRC of 5 frames"}},
		{"a damaged file", report.Report{Totals: report.Totals{RoCE: 1, PFC: 1}, Flows: managed, Captures: []report.Capture{{Name: "a.pcap", Damaged: "cut"}}},
			[]string{"what the damaged part of a.pcap held"}},
	} {
		if got := whats(&test.r); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.desc, got, test.want)
		}
	}
}
