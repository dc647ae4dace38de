package detect

import (
	"strconv"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode/ib"
)

// Entropy counts what switches can hash on.
var Entropy = add(analysis.Analyzer{
	Name: "entropy",
	Doc: "How many paths can the traffic between hosts spread over?\n\n" +
		"Switches hash addresses and UDP ports, and all RoCE goes to one destination port: only the source port tells\n" +
		"two queue pairs apart. Effective paths are 2^H, where H is the entropy of bytes over source ports. CNPs and\n" +
		"connection management do not count.",
	Rules: entropyRules,
	New:   newEntropy,
	Judge: judgeEntropy,
})

type entropy struct{ flows []entropyFlow }

// entropyFlow is a row's data by UDP source port. A queue pair keeps its port
// for life as a rule, so the first one has a place of its own.
type entropyFlow struct {
	first portLoad
	more  []portLoad // at most entropyPorts
	rest  portLoad   // of all further ports together; its port is 0
}

// portLoad is what one port carried.
type portLoad struct {
	requests int64 // of any kind, READ requests included
	frames   int64 // that move data
	bytes    int64
	port     uint16
	used     bool
}

// entropyPorts is how many ports of a queue pair are told apart beside the
// first.
const entropyPorts = 31

func newEntropy(*analysis.Config) analysis.Observer { return &entropy{} }

func (e *entropy) Observe(b *analysis.Batch) {
	for i := range b.Streaks {
		r := &b.Streaks[i]
		p := b.Head(r)
		if p.Version != 2 || p.QP <= 1 || !p.Op.Is(ib.IsRequest|ib.IsReadResponse|ib.IsAtomicAck) || !r.Counts() {
			continue
		}
		l := at(&e.flows, r.Flow).load(p.SrcPort)
		if p.Op.Is(ib.IsRequest) {
			l.requests += r.Len()
		}
		if p.MovesData() {
			l.frames += r.Len()
			l.bytes += r.Payload
		}
	}
}

func (f *entropyFlow) load(port uint16) *portLoad {
	if f.first.used && f.first.port == port {
		return &f.first
	}
	if !f.first.used {
		f.first = portLoad{port: port, used: true}
		return &f.first
	}
	for i := range f.more {
		if f.more[i].port == port {
			return &f.more[i]
		}
	}
	if len(f.more) == entropyPorts {
		f.rest.used = true
		return &f.rest
	}
	f.more = append(f.more, portLoad{port: port, used: true})
	return &f.more[len(f.more)-1]
}

func (e *entropy) Report(r *report.Report) {
	t := report.Table{
		Name: "paths", Help: "Data between hosts by UDP source port and destination queue pair, as switches may hash it.",
		Keys: []string{"src", "dst", "source_port", "dest_qp"},
		Columns: append(columns("frames", "request_frames", "data_frames"),
			report.Column{Name: "data_bytes", Unit: "bytes", Kind: report.Sum}),
	}
	var slab report.Slab
	for id := range e.flows {
		x, f := &e.flows[id], &r.Flows[id]
		if f.Src == report.Other {
			continue
		}
		add := func(l *portLoad, port string) {
			if l.used {
				t.Rows = append(t.Rows, slab.Row([]int64{l.requests, l.frames, l.bytes}, f.Src, f.Dst, port, qpText(f.DestQP)))
			}
		}
		if x.first.used {
			add(&x.first, strconv.Itoa(int(x.first.port)))
		}
		for i := range x.more {
			add(&x.more[i], strconv.Itoa(int(x.more[i].port)))
		}
		add(&x.rest, report.Other)
	}
	addTable(r, "entropy", t)
}
