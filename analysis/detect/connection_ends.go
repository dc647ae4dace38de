package detect

import (
	"net/netip"
	"strconv"

	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// rowEnds is what the frames of a row say of the two adapters.
type rowEnds struct {
	requests int64   // of RC and XRC
	data     int64   // other packets than those of the management queue pairs
	first    int64   // frame
	src, dst [6]byte // as in the first frame
	any      bool
	varies   bool // later frames have others
}

// seen takes n frames that bear the addresses of p.
func (e *rowEnds) seen(p *decode.Packet, n int64) {
	if !e.any {
		e.any, e.src, e.dst, e.first = true, p.SrcMAC, p.DstMAC, int64(p.Frame)
	}
	e.varies = e.varies || e.src != p.SrcMAC || e.dst != p.DstMAC
	if p.QP <= 1 {
		return
	}
	e.data += n
	if t := p.Op.Transport(); p.Op.Is(ib.IsRequest) && (t == ib.RC || t == ib.XRC) {
		e.requests += n
	}
}

// The columns of the table of ends.
const (
	endsRows = iota
	endsRequests
	endsData
	endsFirstFrame
	endsFirstNs
	endsLastNs
)

// endsTable joins the rows of two addresses by the adapters they name.
func (c *connection) endsTable(r *report.Report) report.Table {
	t := report.Table{Name: "ends", Help: "Which addresses and which version of RoCE adapters use with each other; no MAC address where frames have none or differ.",
		Keys: []string{"src", "dst", "roce_version", "src_mac", "dst_mac"},
		Columns: append(columns("", "rows", "requests", "data_frames"), report.Column{Name: "first_frame", Kind: report.Floor},
			report.Column{Name: "first_ns", Unit: "ns", Kind: report.Floor}, report.Column{Name: "last_ns", Unit: "ns", Kind: report.Peak})}
	var sums report.Tally[endsKey]
	for id, row := range c.rows.of(r) {
		e, f := &row.ends, &r.Flows[id]
		if f.Src == report.Other || !e.any {
			continue
		}
		k := endsKey{hosts: hostsOf(f), version: f.Version, ends: [2][6]byte{e.src, e.dst}}
		if e.varies {
			k.ends = [2][6]byte{}
		}
		for i := range k.ends {
			if k.ends[i][0]&1 != 0 {
				k.ends[i] = [6]byte{} // none of one adapter
			}
		}
		values := [...]int64{1, e.requests, e.data, e.first, f.FirstNs, f.LastNs}
		sums.Add(&t, k, values[:], func() []string {
			return []string{f.Src, f.Dst, strconv.Itoa(f.Version), adapterText(k.ends[0]), adapterText(k.ends[1])}
		})
	}
	return t
}

// endsKey is a row of the table.
type endsKey struct {
	hosts
	version int
	ends    [2][6]byte
}

// addressFamily is what kind of address a GID holds.
type addressFamily uint8

const (
	familyIPv4 addressFamily = iota
	familyIPv6
	familyLinkLocal
	familyOther // of native InfiniBand
	addressFamilies
)

func familyOf(address string) addressFamily {
	a, err := netip.ParseAddr(address)
	switch {
	case err != nil:
		return familyOther
	case a.Is4():
		return familyIPv4
	case a.IsLinkLocalUnicast():
		return familyLinkLocal
	}
	return familyIPv6
}

func (f addressFamily) String() string {
	return [addressFamilies]string{"IPv4", "IPv6", "link-local", "LID"}[f]
}
