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

type entropy struct {
	first perRow[portLoad] // a queue pair keeps its port for life as a rule
	more  perRow[*morePorts]
}

// morePorts is a row's data by UDP source port, beyond the first one.
type morePorts struct {
	ports []portLoad // at most entropyPorts
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
	e.first.warm(b)
	for i := range b.Streaks {
		r := &b.Streaks[i]
		p := b.Head(r)
		if p.Version != 2 || p.QP <= 1 || !p.Op.Is(ib.IsRequest|ib.IsReadResponse|ib.IsAtomicAck) || !r.Counts() {
			continue
		}
		l := e.load(r.Flow, p.SrcPort)
		if p.Op.Is(ib.IsRequest) {
			l.requests += r.Len()
		}
		if p.MovesData() {
			l.frames += r.Len()
			l.bytes += r.Payload
		}
	}
}

func (e *entropy) load(id analysis.FlowID, port uint16) *portLoad {
	l := e.first.at(id)
	if !l.used {
		*l = portLoad{port: port, used: true}
	}
	if l.port == port {
		return l
	}
	f := e.more.at(id)
	if *f == nil {
		*f = new(morePorts) // once in a row's life
	}
	return (*f).load(port)
}

func (f *morePorts) load(port uint16) *portLoad {
	for i := range f.ports {
		if f.ports[i].port == port {
			return &f.ports[i]
		}
	}
	if len(f.ports) == entropyPorts {
		f.rest.used = true
		return &f.rest
	}
	f.ports = append(f.ports, portLoad{port: port, used: true})
	return &f.ports[len(f.ports)-1]
}

func (e *entropy) Report(r *report.Report) {
	t := report.Table{
		Name: "paths", Help: "Data between hosts by UDP source port and destination queue pair, as switches may hash it.",
		Keys: []string{"src", "dst", "source_port", "dest_qp"},
		Columns: append(columns("frames", "request_frames", "data_frames"),
			report.Column{Name: "data_bytes", Unit: "bytes", Kind: report.Sum}),
	}
	n := 0
	for _, first := range e.first.of(r) {
		if first.used {
			n++
		}
	}
	t.Rows = make([]report.Row, 0, n) // and hardly any more
	var slab report.Slab
	for id, first := range e.first.of(r) {
		f := &r.Flows[id]
		if f.Src == report.Other || !first.used {
			continue
		}
		add := func(l *portLoad, port string) {
			t.Rows = append(t.Rows, slab.Row([]int64{l.requests, l.frames, l.bytes}, f.Src, f.Dst, port, qpText(f.DestQP)))
		}
		add(first, strconv.Itoa(int(first.port)))
		x := e.more.known(id)
		if x == nil || *x == nil {
			continue
		}
		for i := range (*x).ports {
			add(&(*x).ports[i], strconv.Itoa(int((*x).ports[i].port)))
		}
		if (*x).rest.used {
			add(&(*x).rest, report.Other)
		}
	}
	addTable(r, "entropy", t)
}
