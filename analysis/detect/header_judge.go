package detect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
)

// The columns of the table of bits.
const (
	headerQPs = iota
	headerFrames
	headerFirstFrame
	headerFirstNs
	headerLastNs
)

// headerFields are the constant fields, in the order of the table's keys.
var headerFields = [3]string{"P_Key", "TVer", "MigReq"}

// headerPair is what two hosts write into their headers, there and back.
type headerPair struct {
	hosts
	diffs       []headerDiff
	alone       map[string]*[2]headerWay // by transport and direction, rows whose way back is not known
	first, last int64
	frames      []uint64
}

// headerDiff is a field that differs between the two directions of queue pairs.
type headerDiff struct {
	field       int
	there, back string
	qps         int64
}

// headerWay is what rows of one direction have in common; empty where they
// differ.
type headerWay struct {
	bits [3]string
	qps  int64
}

func (w *headerWay) add(bits [3]string, qps int64) {
	if w.qps == 0 {
		w.bits = bits
	}
	w.qps += qps
	for i := range bits {
		if w.bits[i] != bits[i] {
			w.bits[i] = ""
		}
	}
}

func judgeHeader(r *report.Report, _ *analysis.Config) []report.Finding {
	var out []report.Finding
	for _, p := range headerPairs(r) {
		for _, transport := range sortedKeys(p.alone) {
			if w := p.alone[transport]; w[0].qps > 0 && w[1].qps > 0 {
				p.compare(w[0].bits, w[1].bits, max(w[0].qps, w[1].qps))
			}
		}
		if len(p.diffs) > 0 {
			out = append(out, p.finding(r))
		}
	}
	return condense(out, "host pair", "infiniband.bth.destqp > 1")
}

// headerPairs reads the table, the host of the lower name first.
func headerPairs(r *report.Report) []*headerPair {
	var out []*headerPair
	index := map[hosts]*headerPair{}
	for _, row := range r.Rows("header", "bits") {
		if len(row.Key) != 9 || len(row.Values) <= headerLastNs {
			continue // of another release
		}
		h, dir := hosts{row.Key[0], row.Key[1]}, 0
		if h.src > h.dst {
			h, dir = h.back(), 1
		}
		p := index[h]
		if p == nil {
			p = &headerPair{hosts: h, alone: map[string]*[2]headerWay{}, first: row.Values[headerFirstNs], last: row.Values[headerLastNs]}
			index[h] = p
			out = append(out, p)
		}
		p.first, p.last = min(p.first, row.Values[headerFirstNs]), max(p.last, row.Values[headerLastNs])
		p.frames = append(p.frames, uint64(row.Values[headerFirstFrame]))
		own, back := [3]string(row.Key[3:6]), [3]string(row.Key[6:9])
		switch {
		case back[0] == unknownPeer:
			if p.alone[row.Key[2]] == nil {
				p.alone[row.Key[2]] = new([2]headerWay)
			}
			p.alone[row.Key[2]][dir].add(own, row.Values[headerQPs])
		case dir == 0: // the row of the way back says the same
			p.compare(own, back, row.Values[headerQPs])
		}
	}
	return out
}

// compare notes the fields that are constant each way and differ.
func (p *headerPair) compare(there, back [3]string, qps int64) {
	for i := range there {
		if there[i] == "" || back[i] == "" || there[i] == back[i] {
			continue
		}
		n := slices.IndexFunc(p.diffs, func(x headerDiff) bool { return x.field == i && x.there == there[i] && x.back == back[i] })
		if n < 0 {
			n, p.diffs = len(p.diffs), append(p.diffs, headerDiff{field: i, there: there[i], back: back[i]})
		}
		p.diffs[n].qps += qps
	}
}

func (p *headerPair) finding(r *report.Report) report.Finding {
	f := report.Finding{
		Rule: "header.mismatch", Severity: report.Info, Confidence: report.Certain, Host: p.src, Toward: p.dst, FirstNs: p.first, LastNs: p.last,
		Frames: fewFrames(p.frames), Values: map[string]int64{},
		Not:    "Not damage: each direction keeps its value in every packet with a good ICRC.",
		Filter: p.filter(r),
	}
	var texts, advice []string
	habit := true // MigReq alone
	for _, d := range p.diffs {
		habit = habit && d.field == 2
		f.Count = max(f.Count, d.qps)
		f.Values[strings.ToLower(headerFields[d.field])+"_queue_pairs"] += d.qps
		texts = append(texts, fmt.Sprintf("%s %s towards %s and %s towards %s", headerFields[d.field], d.there, p.dst, d.back, p.src))
		if a := d.advice(); !slices.Contains(advice, a) {
			advice = append(advice, a)
		}
	}
	dead := p.unanswered(r)
	if !habit || dead {
		f.Severity = report.Notice
	}
	f.Advice = strings.Join(advice, " ")
	f.Summary = fmt.Sprintf("%s and %s fill in constant header bits differently, in %s: %s", p.src, p.dst, report.Counted(f.Count, "queue pair"), strings.Join(texts, ", "))
	switch {
	case dead:
		f.Summary += "; and requests between them are never answered."
	case habit:
		f.Summary += "; that is a habit of their adapters, and they understand each other."
		f.Not += " MigReq alone tells two makes of adapter or driver apart, no more."
	default:
		f.Summary += "."
	}
	return f
}

// advice says what a difference means.
func (d *headerDiff) advice() string {
	switch d.field {
	case 0:
		a, _ := strconv.ParseUint(d.there, 0, 16)
		b, _ := strconv.ParseUint(d.back, 0, 16)
		if (a^b)&0x7FFF == 0 {
			return "The P_Keys differ in the top bit alone: a full member (0x8000 set) and a limited member of one partition, which may talk, while two limited members may not. RoCE hosts are full members (0xffff) as a rule: look at the pkeys below /sys/class/infiniband/DEV/ports/1 and the queue pair's pkey_index."
		}
		return "The P_Keys name two partitions, so a receiver that checks them drops the packets: look at the pkeys below /sys/class/infiniband/DEV/ports/1 and the queue pair's pkey_index on both ends."
	case 1:
		return "The transport version is 0 in every release of the specification; a stack that checks it drops the packets: look at the driver of the end that writes another one."
	}
	return "MigReq is a matter of make and driver; compare firmware and driver of both ends where they do not talk."
}

// unanswered reports whether requests between the two are repeated and not one
// is answered.
func (p *headerPair) unanswered(r *report.Report) bool {
	var responses, resent int64
	for i := range r.Flows {
		if f := &r.Flows[i]; hostsOf(f) == p.hosts || hostsOf(f) == p.back() {
			responses += f.ResponseFrames
			resent += f.Retransmitted
		}
	}
	return responses == 0 && resent > 0
}

func (p *headerPair) filter(r *report.Report) string {
	for i := range r.Flows {
		if f := &r.Flows[i]; hostsOf(f) == p.hosts && hasGRH(f) {
			return "infiniband.bth.destqp > 1 && infiniband.grh.sgid in {" + gid(p.src) + ", " + gid(p.dst) + "}"
		}
	}
	return "infiniband.bth.destqp > 1 && (" + between(p.hosts) + " || " + between(p.back()) + ")"
}
