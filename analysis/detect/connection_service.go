package detect

import (
	"strings"

	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// rowStyle is how a queue pair is used, where no CM message says what for.
type rowStyle struct {
	any, zero bool // requests; the first was PSN 0
	immed     bool // a WRITE with an immediate
	others    bool // requests that are no WRITE
}

// seen takes packets of one message, by the first and the last of them.
func (s *rowStyle) seen(p, last *decode.Packet) {
	if !p.Op.Is(ib.IsRequest) {
		return
	}
	if !s.any {
		s.any, s.zero = true, p.PSN == 0
	}
	if !p.Op.Is(ib.IsWrite) {
		s.others = true
	} else if last.Op.Info().Headers&ib.HasImmDt != 0 {
		s.immed = true
	}
}

// ncclLike reports whether requests look like those of NCCL, which exchanges
// queue pairs over TCP, starts every one at PSN 0, and ends each message of
// WRITEs with one that carries an immediate. Others may do the same.
func (s *rowStyle) ncclLike() bool {
	return s.zero && s.immed && !s.others
}

// servicesTable counts queue pairs by what they seem to serve.
func (c *connection) servicesTable(r *report.Report) report.Table {
	t := report.Table{Name: "services", Help: "What connections seem to serve, by the port that was asked for or by the pattern of requests. Ports can be used for anything.",
		Keys: []string{"src", "dst", "service", "by"}, Columns: columns("", "queue_pairs")}
	for _, x := range c.exchanges {
		if name := serviceName(x.service.String()); name != "" && x.values[cmRequests] > 0 {
			t.Rows = append(t.Rows, report.Row{Key: []string{decode.Address(x.pair.from), decode.Address(x.pair.to), name, "port"}, Values: []int64{1}})
		}
	}
	for id, row := range c.rows.of(r) {
		f := &r.Flows[id]
		if m := c.managed.known(id); (m == nil || m.exchange == nil) && row.style.ncclLike() && f.Src != report.Other && f.Transport == "RC" {
			t.Rows = append(t.Rows, report.Row{Key: []string{f.Src, f.Dst, "NCCL-like", "pattern"}, Values: []int64{1}})
		}
	}
	return t
}

// serviceName names what usually listens on a port of RDMA-CM; empty where
// nothing is known.
func serviceName(service string) string {
	port, ok := strings.CutPrefix(service, "TCP ")
	if !ok {
		return ""
	}
	switch port {
	case "4420":
		return "NVMe-oF"
	case "20049":
		return "NFS"
	case "445":
		return "SMB Direct"
	case "3260":
		return "iSER"
	}
	return ""
}

// serviceText is a service in a sentence.
func serviceText(service string) string {
	switch name := serviceName(service); {
	case service == "":
		return "a service that is not in view"
	case name != "":
		return service + " (" + name + " by its port)"
	case strings.HasPrefix(service, "0x"):
		return "service " + service
	}
	return service
}
