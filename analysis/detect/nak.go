package detect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// NAK counts NAKs by what they say and names the requests that were refused.
var NAK = add(analysis.Analyzer{
	Name: "nak",
	Doc: "Which requests did a receiver refuse, and why?\n\n" +
		"Invalid request, remote access and remote operational errors end the queue pair. The request that was\n" +
		"refused is named with its operation, address, length and key where it was seen.",
	Rules: nakRules,
	New:   newNAK,
	Judge: judgeNAK,
})

type nak struct {
	naks  perRow[*rowNAKs] // nil for rows without
	asked perRow[asked]
}

// rowNAKs is the NAKs of a row.
type rowNAKs struct {
	count [4]int32 // by NAK code
	fatal refusal  // the first one that ended the queue pair
}

// refusal is a NAK that ended a queue pair; it is empty while frame is 0.
type refusal struct {
	frame    uint64
	psn      ib.PSN
	syndrome ib.Syndrome
}

// asked holds the newest messages of a row, by their first packets. More than
// a few cannot be told from the answer's side: what is in flight when a queue
// pair dies comes after the request that killed it.
type asked []request // at most askedMost

const askedMost = 8

// request is the first packet of a message; it is empty while frame is 0.
type request struct {
	frame  uint64
	va     uint64
	rkey   uint32
	length uint32
	psn    ib.PSN
	op     ib.Opcode
	turn   uint8 // of the first in the list: which one is the next to go
}

func newNAK(*analysis.Config) analysis.Observer { return &nak{} }

func (n *nak) Observe(b *analysis.Batch) {
	n.asked.warm(b)
	for i := range b.Streaks {
		r := &b.Streaks[i]
		p := b.Head(r)
		switch {
		case !r.Counts():
		case p.HasSyndrome() && p.Syndrome.Type() == ib.NAK && p.Syndrome.Value() < 4:
			f := n.row(r.Flow)
			f.count[p.Syndrome.Value()]++
			if p.Syndrome&0x7F == ib.NAKPSNSequence {
				b.Note(analysis.SequenceNAK, r.From)
				continue
			}
			b.Note(analysis.FatalNAK, r.From)
			if f.fatal.frame == 0 {
				f.fatal = refusal{p.Frame, p.PSN, p.Syndrome & 0x7F}
			}
		case p.HasExt && p.Op.Is(ib.IsFirst|ib.IsOnly) && p.Op.Is(ib.IsRequest) && p.Op.Transport() != ib.UD:
			n.remember(r.Flow, p)
		}
	}
}

func (n *nak) row(id analysis.FlowID) *rowNAKs {
	f := n.naks.at(id)
	if *f == nil {
		*f = new(rowNAKs) // once in a row's life
	}
	return *f
}

func (n *nak) remember(id analysis.FlowID, p *decode.Packet) {
	n.asked.at(id).remember(p)
}

func (a *asked) remember(p *decode.Packet) {
	q := request{frame: p.Frame, va: p.VA, rkey: p.RKey, length: p.DMALen, psn: p.PSN, op: p.Op}
	if p.DMALen == 0 {
		q.length = p.PayloadLen
	}
	if len(*a) < askedMost {
		*a = append(*a, q)
		return
	}
	list := *a
	turn := list[0].turn
	list[turn] = q
	list[0].turn = (turn + 1) % askedMost
}

// find returns the message that holds a PSN: the one that starts last at or
// before it. Without that the request is empty.
func (a asked) find(psn ib.PSN) request {
	var best request
	for _, q := range a {
		if q.frame != 0 && !q.psn.After(psn) && (best.frame == 0 || !q.psn.Before(best.psn)) {
			best = q
		}
	}
	return best
}

func (n *nak) Report(r *report.Report) {
	for id, row := range n.naks.of(r) {
		if *row == nil {
			continue
		}
		c, f, t := &(*row).count, &r.Flows[id], &r.Totals
		f.NAKSequence += int64(c[0])
		f.NAKInvalidRequest += int64(c[1])
		f.NAKRemoteAccess += int64(c[2])
		f.NAKRemoteOperational += int64(c[3])
		t.NAKSequence += int64(c[0])
		t.NAKInvalidRequest += int64(c[1])
		t.NAKRemoteAccess += int64(c[2])
		t.NAKRemoteOperational += int64(c[3])
	}
	t := report.Table{
		Name: "refused", Help: "The first NAK that ended each queue pair, and the request it answers.",
		Keys:    []string{"src", "dst", "dest_qp", "psn", "answer", "request", "va", "length", "r_key"},
		Columns: []report.Column{{Name: "nak_frame", Kind: report.Floor}, {Name: "request_frame", Kind: report.Floor}},
	}
	requests := n.requestRows(r)
	for id, row := range n.naks.of(r) {
		f := &r.Flows[id]
		if *row == nil || (*row).fatal.frame == 0 || f.Src == report.Other {
			continue
		}
		fatal := (*row).fatal
		var q request
		for _, a := range requests[peerRef(f)] {
			if x := a.find(fatal.psn); x.frame != 0 {
				q = x
			}
		}
		t.Rows = append(t.Rows, refusedRow(f, fatal, q))
	}
	addTable(r, "nak", t)
}

// requestRows finds the requests that the fatal NAKs answer, by row.
func (n *nak) requestRows(r *report.Report) map[report.FlowRef][]asked {
	wanted := map[report.FlowRef][]asked{}
	for id, row := range n.naks.of(r) {
		if *row != nil && (*row).fatal.frame != 0 && r.Flows[id].PeerQP != nil {
			wanted[peerRef(&r.Flows[id])] = nil
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	for id, a := range n.asked.of(r) {
		ref := *r.Flows[id].Ref()
		if as, ok := wanted[ref]; ok && len(*a) > 0 {
			wanted[ref] = append(as, *a)
		}
	}
	return wanted
}

// peerRef names the row of the opposite direction.
func peerRef(f *report.Flow) report.FlowRef {
	if f.PeerQP == nil {
		return report.FlowRef{}
	}
	return report.FlowRef{Src: f.Dst, Dst: f.Src, DestQP: *f.PeerQP}
}

func refusedRow(f *report.Flow, fatal refusal, q request) report.Row {
	row := report.Row{
		Key:    []string{f.Src, f.Dst, qpText(f.DestQP), fmt.Sprint(uint32(fatal.psn)), fatal.syndrome.String(), "", "", "", ""},
		Values: []int64{int64(fatal.frame), int64(q.frame)},
	}
	if q.frame == 0 {
		return row
	}
	row.Key[5], row.Key[7] = q.op.String(), fmt.Sprint(q.length)
	if q.op.Info().Headers&(ib.HasRETH|ib.HasAtomicETH) != 0 {
		row.Key[6], row.Key[8] = fmt.Sprintf("%#x", q.va), fmt.Sprintf("%#x", q.rkey)
	}
	return row
}

// fatalNAK is what the judge says of one NAK code.
type fatalNAK struct {
	rule     string
	syndrome ib.Syndrome
	count    func(*report.Flow) int64
	not      string
	advice   string
}

var fatalNAKs = []fatalNAK{
	{"nak.invalid-request", ib.NAKInvalidRequest, func(f *report.Flow) int64 { return f.NAKInvalidRequest },
		"Not loss and not congestion: the request arrived whole and was refused, so sending it again does not help.",
		"Check what the receiver allows: operations of the queue pair (qp_access_flags), the same path MTU on both sides, READ depth (max_dest_rd_atomic), receive buffers as long as the message. On the requester `rdma statistic` counts req_remote_invalid_request."},
	{"nak.remote-access", ib.NAKRemoteAccess, func(f *report.Flow) int64 { return f.NAKRemoteAccess },
		"Not loss and not congestion: the request arrived whole and its address, length, key or permission was refused.",
		"Compare address, length and R_Key with the memory region the peer announced: stale key after re-registration, wrong offset, missing remote access flag. On the requester `rdma statistic` counts req_remote_access_errors; its completion says remote access error."},
	{"nak.remote-operational", ib.NAKRemoteOperational, func(f *report.Flow) int64 { return f.NAKRemoteOperational },
		"Not loss and not congestion: the request arrived whole and the receiver failed while it carried it out.",
		"Look at the receiver: kernel log, adapter health, completion errors of its application (a posted buffer that its adapter may no longer use, as after deregistration, is the usual one)."},
}

func judgeNAK(r *report.Report, _ *analysis.Config) []report.Finding {
	refused := map[report.FlowRef][]report.Row{}
	for _, row := range r.Rows("nak", "refused") {
		refused[nameOf(row.Key)] = append(refused[nameOf(row.Key)], row)
	}
	var out []report.Finding
	for _, k := range fatalNAKs {
		var fs []report.Finding
		for i := range r.Flows {
			f := &r.Flows[i]
			if n := k.count(f); n > 0 && f.Src != report.Other {
				fs = append(fs, k.finding(f, n, refused[*f.Ref()]))
			}
		}
		out = append(out, condense(fs, "queue pair", fmt.Sprintf("infiniband.aeth.syndrome.error_code == %d", k.syndrome.Value()))...)
	}
	return out
}

// finding speaks of one row's NAKs; refused tells the requests of all rows of its name.
func (k *fatalNAK) finding(f *report.Flow, n int64, refused []report.Row) report.Finding {
	ev := evidence([]*report.Flow{f}, analysis.FatalNAK)
	var row report.Row
	for _, x := range refused {
		if slices.Contains(ev.Frames, uint64(x.Values[0])) {
			row = x
		}
	}
	out := report.Finding{
		Rule: k.rule, Severity: report.Critical, Confidence: report.Certain, Flow: f.Ref(), FirstNs: ev.FirstNs, LastNs: ev.LastNs, Count: n, Frames: ev.Frames,
		Values: map[string]int64{"naks": n}, Not: k.not, Advice: k.advice,
		Filter: toward(f) + fmt.Sprintf(" && infiniband.aeth.syndrome.error_code == %d", k.syndrome.Value()),
	}
	what := "a request that was not seen"
	if len(row.Key) > 0 && row.Key[4] == k.syndrome.String() {
		if row.Key[5] != "" {
			what = row.Key[5]
			if row.Key[7] != "0" { // an ATOMIC has no length
				what += fmt.Sprintf(" of %s bytes", row.Key[7])
			}
			if row.Key[6] != "" {
				what += fmt.Sprintf(" at address %s with R_Key %s", row.Key[6], row.Key[8])
			}
			out.Values["request_frame"] = row.Values[1]
			out.Frames = fewFrames(append(out.Frames, uint64(row.Values[1])))
		}
		what += " (PSN " + row.Key[3] + ")"
	}
	out.Summary = fmt.Sprintf("%s refused %s from %s: %s; %s of %s is dead from then on.",
		f.Src, what, f.Dst, strings.TrimPrefix(k.syndrome.String(), "NAK "), report.QP(f.DestQP), f.Dst)
	return out
}
