package detect

import (
	"strings"

	"github.com/rocescope/rocescope/analysis/report"
)

// way is what is known of one direction between two hosts, by size.
type way struct {
	hosts
	answers          int64 // that requests drew
	reads            int64 // READ responses that came
	only, part, read int64 // the largest that arrived: whole messages, parts of longer ones, READ responses
	ack              int64 // size of the ACKs that went this way, 0 where none did
	lastNs           int64 // when a request arrived last
	vain             []*vain
}

func (w *way) largest() int64 { return max(w.only, w.part, w.read, w.ack) }

// vain is one packet that was sent again and again in vain.
type vain struct {
	flow                         *report.Flow // in which the request travels, or the READ response
	psn                          string
	sendings, size, behind, naks int64
	first                        bool  // of a message of several packets
	asked                        int64 // it is a READ of so many bytes, and the response to that is meant
	answers                      int64 // to anything in its row
	firstFrame, lastFrame        uint64
	firstNs, lastNs              int64
	response                     bool // a READ response that passes the tap, each time in vain
}

// waysOf reads the tables, and returns the directions in which packets were sent
// in vain often enough, in the order of the table.
func waysOf(r *report.Report, tries int64) []*way {
	unanswered := r.Rows("mtu", "unanswered")
	if len(unanswered) == 0 {
		return nil
	}
	flows := byName(r)
	var out []*way
	ways := map[hosts]*way{}
	for _, row := range unanswered {
		for _, f := range flows[nameOf(row.Key)] {
			v := readVain(row, f)
			if v == nil || v.sendings < tries {
				continue
			}
			h := hostsOf(f)
			switch {
			case v.asked > 0:
				h = h.back()
				v.size = responseSize(v, flows)
			case v.size == 0:
				v.size = v.fullSize(flows)
			}
			if ways[h] == nil {
				ways[h] = &way{hosts: h}
				out = append(out, ways[h])
			}
			ways[h].vain = append(ways[h].vain, v)
			break
		}
	}
	for _, row := range r.Rows("mtu", "arrived") {
		if w := ways[hosts{row.Key[0], row.Key[1]}]; w != nil {
			w.answers, w.only, w.part, w.lastNs, w.reads, w.read = row.Values[0], row.Values[1], row.Values[2], row.Values[3], row.Values[4], row.Values[5]
		}
	}
	for i := range r.Flows {
		f := &r.Flows[i]
		if w := ways[hostsOf(f)]; w != nil && f.Acks > 0 {
			w.ack = headerSize(f) + 4
		}
	}
	return out
}

// readVain reads a row of the table; it returns nil where the flow is another one
// of the same numbers, or goes on later.
func readVain(row report.Row, f *report.Flow) *vain {
	x := row.Values
	v := &vain{flow: f, psn: row.Key[3], sendings: x[0], size: x[1], behind: x[2], naks: x[3], first: x[4] != 0, asked: x[5], answers: x[6],
		firstFrame: uint64(x[7]), lastFrame: uint64(x[8]), firstNs: x[9], lastNs: x[10], response: row.Key[4] != "request"}
	interval := (v.lastNs - v.firstNs) / max(1, v.sendings-1)
	if v.lastNs < f.FirstNs || v.firstNs > f.LastNs || f.LastNs-v.lastNs > max(interval, 0)+interval/2 {
		return nil
	}
	return v
}

// headerSize is the bytes of a packet without extension headers and payload.
func headerSize(f *report.Flow) int64 {
	switch {
	case f.Version == 1:
		return 40 + 16
	case f.Version != 2:
		return 16
	case strings.Contains(f.Src, ":"):
		return 40 + 8 + 16
	}
	return 20 + 8 + 16
}

// responseSize is the size of the first response to a READ, at most: where no
// full packet tells the path MTU, the largest there is.
func responseSize(v *vain, flows named) int64 {
	mtu := v.pathMTU(flows)
	if mtu == 0 {
		mtu = 4096
	}
	return headerSize(v.flow) + 4 + min(v.asked, mtu)
}

// fullSize is the size of a full packet, 0 where the path MTU is not known.
func (v *vain) fullSize(flows named) int64 {
	if mtu := v.pathMTU(flows); mtu > 0 {
		return headerSize(v.flow) + mtu
	}
	return 0
}

func (v *vain) pathMTU(flows named) int64 {
	mtu := v.flow.PathMTU
	if p := v.flow.PeerQP; p != nil && mtu == 0 {
		for _, f := range flows[report.FlowRef{Src: v.flow.Dst, Dst: v.flow.Src, DestQP: *p}] {
			mtu = max(mtu, f.PathMTU)
		}
	}
	return mtu
}

// within reports whether a packet is known to be no larger than one that passes,
// or than what every link carries (RFC 791).
func (v *vain) within(passes int64) bool { return v.size > 0 && v.size <= max(passes, leastMTU) }

const leastMTU = 576
