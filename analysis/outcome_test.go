package analysis

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode/ib"
)

// outcome is what a shard made of a script.
type outcome struct {
	script   *script
	shard    *shard
	events   []Event
	verdicts []Verdict
	flows    []FlowID
}

// ofPackets lists the kinds whose Count is a run of PSNs.
func ofPackets(e *Event) bool {
	switch e.Kind {
	case NotCaptured, LostUpstream, ResponseNotCaptured, ResponseUnresolved, ResponseLostUpstream:
		return true
	case Unresolved:
		return e.Value == 0
	}
	return false
}

// ofResponse lists the kinds that stand in the row of an answer, and bear the
// PSN of the request that it answers.
func ofResponse(k EventKind) bool {
	return k >= ResponseGap && k <= ResponseRetransmitted || k == RNRStall || k == RNREcho
}

// text returns the events that remain once those taken back are: by kind, with
// PSNs that count from the start, such as "gap@3 not_captured@3-5
// retransmission@7×2". "B:" stands before what stands in a row that B sends.
// Round trips are left out.
func (o *outcome) text() string {
	type key struct {
		kind EventKind
		name string
	}
	counts := map[key]map[int32]int32{}
	for i := range o.events {
		e := &o.events[i]
		if e.Kind.Measure() {
			continue
		}
		k := key{e.Kind, o.nameOf(e)}
		if counts[k] == nil {
			counts[k] = map[int32]int32{}
		}
		base := o.script.startOf(o.asker(e))
		if o.script.packets[e.Frame-1].Op == ib.CNP {
			base = 0 // it has no PSN
		}
		first, n, each := e.PSN.Sub(base), int32(1), e.Count
		if ofPackets(e) && e.Count > 1 {
			n, each = e.Count, 1
		}
		for d := range n {
			counts[k][first+d] += each
		}
	}
	var keys []key
	for k := range counts {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b key) int {
		if a.kind != b.kind {
			return int(a.kind) - int(b.kind)
		}
		return strings.Compare(owner(a.name), owner(b.name))
	})
	var out []string
	for _, k := range keys {
		if r := ranges(counts[k]); r != "" {
			out = append(out, k.name+"@"+r)
		}
	}
	return strings.Join(out, " ")
}

func (o *outcome) nameOf(e *Event) string {
	name := e.Kind.String()
	if e.Kind == Unresolved && e.Value == 1 {
		name = "unresolved_timeout"
	}
	who := o.speaker(e.Flow)
	if ofResponse(e.Kind) == (who[0] == 'B') && len(who) == 1 {
		return name // as most scenes have it: A asks
	}
	return who + ":" + name
}

// owner returns what stands before the colon of a name.
func owner(name string) string {
	if who, _, ok := strings.Cut(name, ":"); ok {
		return who
	}
	return ""
}

// speaker returns who sends what travels in a row: "A", "B2".
func (o *outcome) speaker(id FlowID) string {
	r := o.shard.rows[id]
	for _, host := range []byte("AB") {
		if r.bundle.addr[r.dir] == address(host, o.script.ids) {
			if n := r.qp & 0xF; n > 0 {
				return fmt.Sprintf("%c%d", host, n)
			}
			return string(host)
		}
	}
	return "?"
}

func address(host byte, ids idMode) (a [16]byte) {
	if ids == overIPv6 {
		return [16]byte{0: 0xFD, 15: host - 'A' + 1}
	}
	return [16]byte{10: 0xFF, 11: 0xFF, 12: 10, 15: host - 'A' + 1}
}

// queuePair numbers A 0xA0, A2 0xA2, B 0xB0, B2 0xB2 …
func queuePair(who string) uint32 {
	qp := uint32(who[0]-'A'+10) << 4
	if len(who) > 1 {
		qp += uint32(number(who[1:]))
	}
	return qp
}

// asker returns whose PSNs an event speaks of.
func (o *outcome) asker(e *Event) string {
	who := o.speaker(e.Flow)
	answer := ofResponse(e.Kind)
	if e.Kind == MirrorDuplicate {
		answer = o.script.packets[e.Frame-1].Op.Is(ib.IsResponse)
	}
	if answer {
		return string(byte('A'+'B')-who[0]) + who[1:]
	}
	return who
}

// ranges writes counts by PSN as "3-5,7×2".
func ranges(counts map[int32]int32) string {
	var psns []int32
	for psn, n := range counts {
		if n != 0 {
			psns = append(psns, psn)
		}
	}
	slices.Sort(psns)
	var out []string
	for i := 0; i < len(psns); {
		j := i + 1
		for j < len(psns) && psns[j] == psns[j-1]+1 && counts[psns[j]] == counts[psns[i]] {
			j++
		}
		r := fmt.Sprint(psns[i])
		if j-i > 1 {
			r += fmt.Sprintf("-%d", psns[j-1])
		}
		if n := counts[psns[i]]; n != 1 {
			r += fmt.Sprintf("×%d", n)
		}
		out = append(out, r)
		i = j
	}
	return strings.Join(out, ",")
}

// marks writes the verdicts, a letter a packet.
func (o *outcome) marks() string {
	var b strings.Builder
	for _, v := range o.verdicts {
		b.WriteByte(map[Verdict]byte{0: '.', Copy: 'C', Resent: 'R', Stray: 'S'}[v])
	}
	return b.String()
}

// total adds the counts of one kind over all rows.
func (o *outcome) total(k EventKind) (n int64) {
	for i := range o.events {
		if o.events[i].Kind == k {
			n += int64(o.events[i].Count)
		}
	}
	return n
}

// row returns the row in which a speaker's packets travel, nil where there is
// none; the last one where a queue pair number was used again.
func (o *outcome) row(who string) *row {
	for id := len(o.shard.rows) - 1; id >= 0; id-- {
		if r := o.shard.rows[id]; r != o.shard.other && o.speaker(FlowID(id)) == who {
			return r
		}
	}
	return nil
}

// eventsStandInTheirRow wants each event to name a frame of the capture, and
// one of its row where the kind is that of a packet.
func (o *outcome) eventsStandInTheirRow(t *testing.T) {
	t.Helper()
	for i := range o.events {
		e := &o.events[i]
		if e.Frame == 0 || e.Frame > uint64(len(o.script.packets)) || e.Ref > uint64(len(o.script.packets)) {
			t.Errorf("%v names frame %d and refers to %d, of %d", e.Kind, e.Frame, e.Ref, len(o.script.packets))
			continue
		}
		switch e.Kind {
		case Reordered, RetransmittedNAK, RetransmittedTimeout, RetransmittedImplied, RetransmittedRNR, RetransmittedUnknown,
			Spurious, MirrorDuplicate, ResponseRetransmitted, ResponseReordered:
			if p := &o.script.packets[e.Frame-1]; o.flows[e.Frame-1] != e.Flow || p.PSN != e.PSN {
				t.Errorf("%v of row %d and PSN %#x names frame %d, of row %d and PSN %#x", e.Kind, e.Flow, e.PSN, e.Frame, o.flows[e.Frame-1], p.PSN)
			}
		}
	}
}

// wantColumns compares columns of a speaker's row, given as "frames=3 acks=2".
func (o *outcome) wantColumns(t *testing.T, who, columns string) {
	t.Helper()
	r := o.row(who)
	if r == nil {
		t.Errorf("nothing of %s stands in a row", who)
		return
	}
	f := r.report()
	got := fields(t, &f)
	for _, c := range strings.Fields(columns) {
		name, value, _ := strings.Cut(c, "=")
		if g := fmt.Sprint(got[name]); g != value {
			t.Errorf("%s of %s is %s, want %s", name, who, g, value)
		}
	}
}

// fields returns a row as its JSON has it.
func fields(t *testing.T, f *report.Flow) map[string]any {
	t.Helper()
	data, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
