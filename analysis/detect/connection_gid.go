package detect

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/rocescope/rocescope/analysis/report"
)

// endsView is the table of ends, by which addresses are known to be one host's.
type endsView struct {
	rows  []endsRow
	macs  map[string]map[string]bool                   // of an address
	addrs map[string]*[addressFamilies]map[string]bool // of an adapter
}

type endsRow struct {
	hosts
	version string
	v       []int64
}

func readEnds(r *report.Report) *endsView {
	e := &endsView{macs: map[string]map[string]bool{}, addrs: map[string]*[addressFamilies]map[string]bool{}}
	for _, row := range r.Rows("connection", "ends") {
		if len(row.Key) != 5 || len(row.Values) <= endsLastNs {
			continue // of another release
		}
		e.rows = append(e.rows, endsRow{hosts{row.Key[0], row.Key[1]}, row.Key[2], row.Values})
		e.know(row.Key[0], row.Key[3])
		e.know(row.Key[1], row.Key[4])
	}
	return e
}

// know notes that an address was seen behind an adapter.
func (e *endsView) know(address, mac string) {
	if mac == "" {
		return
	}
	if e.macs[address] == nil {
		e.macs[address] = map[string]bool{}
	}
	e.macs[address][mac] = true
	if e.addrs[mac] == nil {
		e.addrs[mac] = new([addressFamilies]map[string]bool)
	}
	of := &e.addrs[mac][familyOf(address)]
	if *of == nil {
		*of = map[string]bool{}
	}
	(*of)[address] = true
}

// id names the host of an address: by its adapter, or by the address alone
// where the adapter may be a router's, which stands before many hosts.
func (e *endsView) id(address string) string {
	mac := macOf(address)
	if known := e.macs[address]; len(known) == 1 {
		mac = sortedKeys(known)[0]
	} else if len(known) > 1 || e.addrs[mac] == nil {
		return address
	}
	if e.addrs[mac][familyLinkLocal][localOf(mac)] {
		return mac // no router's: it speaks for itself
	}
	for _, of := range e.addrs[mac] {
		if len(of) > 1 {
			return address
		}
	}
	return mac
}

// macOf returns the adapter that a link-local address was made from, as adapters
// do by default; empty where it was not.
func macOf(address string) string {
	a, err := netip.ParseAddr(address)
	if err != nil || !a.IsLinkLocalUnicast() || !a.Is6() {
		return ""
	}
	b := a.As16()
	if b[11] != 0xFF || b[12] != 0xFE {
		return ""
	}
	return adapterText([6]byte{b[8] ^ 2, b[9], b[10], b[13], b[14], b[15]})
}

// localOf is the link-local address that an adapter makes of its own.
func localOf(mac string) string {
	m, err := net.ParseMAC(mac)
	if err != nil || len(m) != 6 {
		return ""
	}
	return netip.AddrFrom16([16]byte{0: 0xFE, 1: 0x80, 8: m[0] ^ 2, 9: m[1], 10: m[2], 11: 0xFF, 12: 0xFE, 13: m[3], 14: m[4], 15: m[5]}).String()
}

// dialect is how two hosts address each other: the one with the lower name
// first.
type dialect struct {
	version string
	family  [2]addressFamily
}

func (d dialect) String() string {
	text := map[string]string{"0": "native InfiniBand", "1": "RoCEv1", "2": "RoCEv2"}[d.version]
	if d.family[0] == d.family[1] {
		return text + " with " + d.family[0].String() + " addresses"
	}
	return text + " between " + d.family[0].String() + " and " + d.family[1].String() + " addresses"
}

// spoken is what two hosts say in one dialect, by direction.
type spoken struct {
	dialect
	rows, requests, data, resent [2]int64
	frames                       [2][]uint64
	first, last                  int64
	address                      [2]string
}

// unheardOf returns the direction in which requests are repeated and from which
// nothing comes back in this dialect; ok is false where there is none.
func (s *spoken) unheardOf() (dir int, ok bool) {
	for dir := range 2 {
		if s.requests[dir] > 0 && s.resent[dir] > 0 && s.data[1-dir] == 0 {
			return dir, true
		}
	}
	return 0, false
}

// gidMixed finds hosts that address each other in more than one way.
func gidMixed(r *report.Report) []report.Finding {
	e := readEnds(r)
	type triple struct {
		hosts
		version string
	}
	resent := map[triple]int64{}
	for i := range r.Flows {
		f := &r.Flows[i]
		resent[triple{hostsOf(f), fmt.Sprint(f.Version)}] += f.Retransmitted
	}
	pairs := map[hosts][]*spoken{}
	var order []hosts
	for i := range e.rows {
		x := &e.rows[i]
		a, b := e.id(x.src), e.id(x.dst)
		if a == b {
			continue
		}
		k, d, dir := hosts{a, b}, dialect{x.version, [2]addressFamily{familyOf(x.src), familyOf(x.dst)}}, 0
		if a > b {
			k, dir = k.back(), 1
			d.family[0], d.family[1] = d.family[1], d.family[0]
		}
		if pairs[k] == nil {
			order = append(order, k)
		}
		s := dialectOf(pairs, k, d, x)
		s.rows[dir] += x.v[endsRows]
		s.requests[dir] += x.v[endsRequests]
		s.data[dir] += x.v[endsData]
		if t := (triple{x.hosts, x.version}); resent[t] > 0 {
			s.resent[dir] += resent[t]
			resent[t] = 0 // several adapters may share the addresses
		}
		s.frames[dir] = append(s.frames[dir], uint64(x.v[endsFirstFrame]))
		s.first, s.last = min(s.first, x.v[endsFirstNs]), max(s.last, x.v[endsLastNs])
		s.address[dir], s.address[1-dir] = x.src, x.dst
	}
	var out []report.Finding
	for _, k := range order {
		if f, ok := gidFinding(k, pairs[k]); ok {
			out = append(out, f)
		}
	}
	return condense(out, "host pair", "infiniband")
}

// dialectOf returns the dialect of a pair, beginning it where it is new.
func dialectOf(pairs map[hosts][]*spoken, k hosts, d dialect, x *endsRow) *spoken {
	for _, s := range pairs[k] {
		if s.dialect == d {
			return s
		}
	}
	s := &spoken{dialect: d, first: x.v[endsFirstNs], last: x.v[endsLastNs]}
	pairs[k] = append(pairs[k], s)
	return s
}

// gidFinding speaks of two hosts that use several dialects.
func gidFinding(k hosts, all []*spoken) (report.Finding, bool) {
	slices.SortFunc(all, func(a, b *spoken) int { return strings.Compare(b.String(), a.String()) }) // RoCEv2 first
	if !unusualDialects(all) {
		return report.Finding{}, false
	}
	f := report.Finding{
		Rule: "gid.mixed", Severity: report.Info, Confidence: report.Certain, FirstNs: all[0].first, LastNs: all[0].last,
		Values: map[string]int64{"dialects": int64(len(all))},
		Not:    "Not a fault by itself: each of them gets its answers.",
		Advice: "Choose the same kind of GID on both ends: show_gids (or the gids and gid_attrs/types below /sys/class/infiniband/DEV/ports/1) lists them with their index; NCCL_IB_GID_INDEX, UCX_IB_GID_INDEX, ib_write_bw -x and cma_roce_mode choose one. The index of one kind need not be the same on two hosts.",
		Filter: dialectFilter(k, all),
	}
	var names []string
	for _, s := range all {
		f.FirstNs, f.LastNs = min(f.FirstNs, s.first), max(f.LastNs, s.last)
		f.Count += s.rows[0] + s.rows[1]
		f.Addresses = append(f.Addresses, s.address[:]...)
		f.Frames = append(f.Frames, slices.Concat(s.frames[0], s.frames[1])...)
		names = append(names, s.String())
	}
	f.Frames = fewFrames(f.Frames)
	slices.Sort(f.Addresses)
	f.Addresses = slices.Compact(f.Addresses)
	f.Summary = fmt.Sprintf("%s and %s address each other in %s: %s.", all[0].address[0], all[0].address[1], report.Counted(int64(len(all)), "way"), strings.Join(names, "; "))
	if len(all) == 1 {
		f.Summary = fmt.Sprintf("%s and %s speak %s.", all[0].address[0], all[0].address[1], names[0])
	}
	pastEachOther(&f, all)
	return f, true
}

// unusualDialects reports whether dialects are worth a word: any that get no answer
// while another way back is in view, two versions, or a link-local address beside
// one that can be routed. IPv4 beside IPv6 is how many hosts live.
func unusualDialects(all []*spoken) bool {
	version, local, routed := map[string]bool{}, false, false
	for _, s := range all {
		if dir, ok := s.unheardOf(); ok && len(all) > 1 && backInView(all, s, dir) {
			return true // of any kind
		}
		version[s.version] = true
		for _, f := range s.family {
			local = local || f == familyLinkLocal
			routed = routed || f == familyIPv4 || f == familyIPv6
		}
	}
	return len(version) > 1 || local && routed
}

// backInView reports whether something else comes back against a direction.
func backInView(all []*spoken, but *spoken, dir int) bool {
	return slices.ContainsFunc(all, func(s *spoken) bool { return s != but && s.rows[1-dir] > 0 }) || but.rows[1-dir] > 0
}

// pastEachOther makes it a notice where requests in one dialect find no answer
// while the other host is heard in another way.
func pastEachOther(f *report.Finding, all []*spoken) {
	for _, s := range all {
		dir, ok := s.unheardOf()
		if !ok || !backInView(all, s, dir) && !s.localAndRouted() {
			continue
		}
		f.Values["unanswered_rows"] += s.rows[dir]
		f.Values["resent"] += s.resent[dir]
		if f.Severity == report.Notice && f.Confidence == report.Likely {
			continue // said already, of the other side
		}
		f.Severity, f.Confidence = report.Notice, report.Possible
		f.Not = "Not a capture of one direction: the other way is in view. A host that is dead for other reasons would not speak in another way."
		if !backInView(all, s, dir) {
			f.Not = "Not merely a capture of one direction: the sender repeats itself, so it got no answer. Loss on the way would look the same."
		}
		f.Summary = fmt.Sprintf("What %s sends to %s as %s, in %s, is repeated, and nothing comes back in it",
			s.address[dir], s.address[1-dir], s, report.Counted(s.rows[dir], "queue pair"))
		i := slices.IndexFunc(all, func(x *spoken) bool { return x != s && x.data[1-dir] > 0 && x.data[dir] == 0 })
		if i < 0 {
			f.Summary += "."
			if names := otherDialects(all, s); names != "" {
				f.Summary += " What the two say as " + names + " goes both ways."
			}
			continue
		}
		x := all[i] // each hears what it does not listen for
		f.Confidence = report.Likely
		f.Summary += fmt.Sprintf("; the same host speaks %s instead, from %s to %s: the two ends use different kinds of GID.", x, x.address[1-dir], x.address[dir])
	}
}

// localAndRouted reports whether one address reaches no farther than the link,
// and the other one does.
func (d dialect) localAndRouted() bool {
	return d.family[0] != d.family[1] && (d.family[0] == familyLinkLocal || d.family[1] == familyLinkLocal)
}

// otherDialects names those that work.
func otherDialects(all []*spoken, but *spoken) string {
	var names []string
	for _, s := range all {
		if _, silent := s.unheardOf(); s != but && !silent && s.rows[0] > 0 && s.rows[1] > 0 {
			names = append(names, s.String())
		}
	}
	return strings.Join(names, " or ")
}

// dialectFilter shows all that two hosts say to each other.
func dialectFilter(k hosts, all []*spoken) string {
	if strings.Count(k.src, ":") == 5 && strings.Count(k.dst, ":") == 5 && len(k.src) == 17 && len(k.dst) == 17 {
		return fmt.Sprintf("infiniband && eth.addr == %s && eth.addr == %s", k.src, k.dst)
	}
	var parts []string
	for _, s := range all {
		for dir := range 2 {
			h := hosts{s.address[dir], s.address[1-dir]}
			part := between(h)
			if s.version == "1" {
				part = "infiniband.grh.sgid == " + gid(h.src)
			}
			if s.rows[dir] > 0 && !slices.Contains(parts, part) {
				parts = append(parts, part)
			}
		}
	}
	return "infiniband && (" + strings.Join(parts, " || ") + ")"
}
