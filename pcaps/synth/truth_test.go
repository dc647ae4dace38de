package synth_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/pcaps/synth"
)

func rowName(src, dst string, qp uint32) string { return fmt.Sprintf("%s > %s %#x", src, dst, qp) }

// rowsByName returns the rows of a report by the name that they share with the truth.
func rowsByName(r *report.Report) map[string][]*report.Flow {
	rows := map[string][]*report.Flow{}
	for i := range r.Flows {
		f := &r.Flows[i]
		name := rowName(f.Src, f.Dst, f.DestQP)
		rows[name] = append(rows[name], f)
	}
	return rows
}

func TestAnalysisEqualsTheTruth(t *testing.T) {
	eachSample(t, func(t *testing.T, s *synth.Scenario, c *synth.Capture) {
		r := analyze(t, s, c)
		rows := rowsByName(r)
		for i := range c.Truth.Rows {
			row := &c.Truth.Rows[i]
			name := rowName(row.Src, row.Dst, row.DestQP)
			compare(t, name, row, rows[name])
			delete(rows, name)
		}
		for name := range rows {
			t.Errorf("%s: nothing of the kind was sent", name)
		}
	})
}

// compare holds a row of the truth against the rows of the report that go by
// its name.
func compare(t *testing.T, name string, row *synth.Row, flows []*report.Flow) {
	t.Helper()
	for _, column := range synth.Columns {
		var got int64
		for _, f := range flows {
			got += count(f, column)
		}
		if want, open := row.Counts[column], row.Opened(column); got < want || got > want+open {
			t.Errorf("%s: %s is %d, want %d and at most %d more", name, column, got, want, open)
		}
	}
	for _, f := range flows {
		if f.PeerQP != nil && row.PeerQP != 0 && *f.PeerQP != row.PeerQP {
			t.Errorf("%s: its peer is %#x, not %#x", name, row.PeerQP, *f.PeerQP)
		}
	}
}

func TestSamplesHaveWhatTheyShow(t *testing.T) {
	for name, columns := range map[string][]string{
		"loss-downstream":    {"lost_downstream", "retransmitted_nak"},
		"loss-upstream":      {"lost_upstream", "retransmitted_nak"},
		"loss-read-response": {"response_lost_upstream", "retransmitted_implied"},
		"capture-missed":     {"not_captured"},
		"capture-duplicated": {"mirror_duplicates"},
		"reorder":            {"reordered"},
		"rnr":                {"rnr_naks", "retransmitted_rnr"},
		"nak-remote-access":  {"naks_remote_access"},
		"cnp":                {"cnps", "ce_frames"},
		"uc-ud-loss":         {"lost_upstream"},
	} {
		total := map[string]int64{}
		for _, s := range synth.Samples() {
			if s.Name != name {
				continue
			}
			for _, row := range synth.Run(s).Truth.Rows {
				for column, n := range row.Counts {
					total[column] += n
				}
			}
		}
		for _, column := range columns {
			if total[column] == 0 {
				t.Errorf("%s: there is nothing in %s", name, column)
			}
		}
	}
}

// TestShortestRoundTripBoundsWhatIsNeedless keeps ACKs back at the receiver. An
// answer that comes sooner than those may have been sent at once, so that it does
// not prove that the resend before it was needless; a NAK tells how soon.
func TestShortestRoundTripBoundsWhatIsNeedless(t *testing.T) {
	play := func(kept time.Duration) int64 {
		s := &synth.Scenario{
			Seed: 1, Tap: synth.AtHost(1), Network: synth.Network{Delay: 5 * us},
			Connections: []synth.Connection{{From: 1, To: 2, Coalesce: kept, Work: []synth.Work{synth.Write(3000).Times(60).Every(2 * us)}}},
			Faults:      []synth.Fault{synth.Delay(synth.Requests(1).Number(8), 2*us).AfterTap()},
		}
		row := synth.Run(s).Truth.Rows[0]
		return row.Counts["spurious"]
	}
	if at, kept := play(0), play(8*us); at == 0 || kept > at {
		t.Errorf("%d resends are certainly needless where ACKs are sent at once, %d where they are kept back", at, kept)
	}
}

// TestResponsesToARepeatedREADLostAllAreOpen loses the READ that is repeated, or
// all that answers it: to the tap at the requester both look alike.
func TestResponsesToARepeatedREADLostAllAreOpen(t *testing.T) {
	s := &synth.Scenario{
		Seed: 1, Tap: synth.AtHost(1), Network: synth.Network{Delay: 5 * us},
		Connections: []synth.Connection{{From: 1, To: 2, AckTimeout: 8, Work: []synth.Work{synth.Read(3000).Times(6).Every(10 * us)}}},
		Faults:      []synth.Fault{synth.Lose(synth.ReadResponses(1).Number(1, 2, 3))},
	}
	first := synth.Run(s).Truth.Rows[1]
	if first.Counts["response_lost_upstream"] != 3 || first.Opened("response_lost_upstream") != 0 {
		t.Errorf("of responses to a READ sent once all are known to be lost: %v, open %v", first.Counts, first.Open)
	}
	s.Faults[0] = synth.Lose(synth.ReadResponses(1).ByChance(0.7))
	if often := synth.Run(s).Truth.Rows[1]; often.Opened("response_lost_upstream") == 0 {
		t.Error("no repeated READ lost all its responses, where seven in ten are lost")
	}
}

// TestAPassLostWholeLooksLikeALostNAK loses a packet, and either all that is sent
// again for it or the NAK that calls for it: what the tap sees is the same. Where
// IDs rise one of them is missing, which another connection may have had.
func TestAPassLostWholeLooksLikeALostNAK(t *testing.T) {
	play := func(ids synth.IDs, second synth.Fault) (seen []string, row synth.Row) {
		s := &synth.Scenario{
			Seed: 1, Network: synth.Network{Delay: 5 * us, IDs: ids},
			Connections: []synth.Connection{{From: 1, To: 2, AckTimeout: 8, Recovery: synth.SelectiveRepeat, Work: []synth.Work{synth.Write(200).Times(12).Every(2 * us)}}},
			Faults:      []synth.Fault{synth.Lose(synth.Requests(1).Number(5)), second},
		}
		c := synth.Run(s)
		for _, p := range packets(t, c) {
			seen = append(seen, fmt.Sprint(p.Op, p.PSN, p.Syndrome))
		}
		return seen, c.Truth.Rows[0]
	}
	resend := synth.Lose(synth.Requests(1).Again(1))
	one, resent := play(synth.ConstantIDs, resend)
	other, unasked := play(synth.ConstantIDs, synth.Lose(synth.Acks(1).Number(5)).AfterTap())
	if !slices.Equal(one, other) {
		t.Fatalf("the captures differ:\n%v\n%v", one, other)
	}
	const column = "lost_upstream"
	if n, open := resent.Counts[column], resent.Opened(column); n != 1 || open != 1 {
		t.Errorf("where the resend is lost: %d lost for certain and %d open, want 1 and 1", n, open)
	}
	if n, open := unasked.Counts[column], unasked.Opened(column); n != 1 || open != 0 {
		t.Errorf("where the NAK is lost: %d lost for certain and %d open, want 1 and 0", n, open)
	}
	if _, row := play(synth.RisingIDs, resend); row.Counts[column] != 1 || row.Opened(column) != 1 {
		t.Errorf("where IDs rise %d are lost for certain and %d open, want 1 and 1: another connection may have had the number", row.Counts[column], row.Opened(column))
	}
}

// TestTheFirstOfAPassMayLookLikeACopy delays a packet so that two NAKs follow each
// other, and the pass that the second one draws begins with what the first pass
// has just sent. Where IDs tell nothing, a mirror's copy of that packet looks the
// same; but the rest of the pass, which goes on, does not.
func TestTheFirstOfAPassMayLookLikeACopy(t *testing.T) {
	play := func(ids synth.IDs) (certain, open int64) {
		s := &synth.Scenario{
			Seed: 1, Network: synth.Network{Delay: 5 * us, IDs: ids},
			Connections: []synth.Connection{{From: 1, To: 2, PathMTU: 1024, Work: []synth.Work{synth.Write(9000).Times(20).Every(2 * us)}}},
			Faults:      []synth.Fault{synth.Delay(synth.Requests(1).Number(8), time.Microsecond)},
		}
		row := synth.Run(s).Truth.Rows[0]
		return row.Counts["retransmitted"], row.Opened("retransmitted")
	}
	all, none := play(synth.RisingIDs)
	certain, open := play(synth.ConstantIDs)
	if none != 0 || all < 10 || certain != all-1 || open < 1 {
		t.Errorf("%d resends and %d open where IDs rise, %d and %d where they do not", all, none, certain, open)
	}
}

// TestTheAnswerToWhatLooksLikeACopyDoesSoToo delays a packet until a NAK calls for
// it, so that it comes twice, and its ACK as well. Where IDs tell nothing, a mirror
// that copies the two shows the same.
func TestTheAnswerToWhatLooksLikeACopyDoesSoToo(t *testing.T) {
	play := func(ids synth.IDs) (acks, open int64, why string) {
		s := &synth.Scenario{
			Seed: 1, Network: synth.Network{Delay: 5 * us, IDs: ids}, Tap: synth.AtHost(2),
			Connections: []synth.Connection{{From: 1, To: 2, Recovery: synth.SelectiveRepeat, Work: []synth.Work{synth.Write(200).Times(12).Every(2 * us)}}},
			Faults:      []synth.Fault{synth.Delay(synth.Requests(1).Number(5), 3*time.Microsecond)},
		}
		c := synth.Run(s)
		for i := range c.Truth.Rows {
			if row := &c.Truth.Rows[i]; row.Counts["acks"] > 0 {
				acks, open = row.Counts["acks"], row.Opened("mirror_duplicates")
				for _, o := range row.Open["mirror_duplicates"] {
					why += o.Why
				}
			}
		}
		return acks, open, why
	}
	rising, none, _ := play(synth.RisingIDs)
	acks, open, why := play(synth.ConstantIDs)
	if none != 0 || rising != acks || open != 1 || !strings.Contains(why, "what it answers") {
		t.Errorf("%d ACKs and %d open where IDs rise, %d and %d where they do not: %s", rising, none, acks, open, why)
	}
}

// TestUnansweredREADsOfUnknownLengthAreFound plays READs of which nothing tells the
// path MTU: each pass of the timer repeats several of them.
func TestUnansweredREADsOfUnknownLengthAreFound(t *testing.T) {
	all := synth.Scenarios()
	s := all[slices.IndexFunc(all, func(s *synth.Scenario) bool { return s.Name == "reads-unanswered" })]
	r := analyze(t, s, synth.Run(s))
	for _, rule := range []string{"peer.read-unanswered", "retransmit.exhausted"} {
		if !slices.ContainsFunc(r.Findings, func(f report.Finding) bool { return f.Rule == rule }) {
			t.Errorf("%s is not found", rule)
		}
	}
	for i := range r.Flows {
		if f := &r.Flows[i]; f.RetransmittedTimeout != f.Retransmitted {
			t.Errorf("%d of %d resends towards %#x are put down to the timer", f.RetransmittedTimeout, f.Retransmitted, f.DestQP)
		}
	}
}
