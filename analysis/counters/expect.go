// Package counters says what the counters of adapters should read for a
// capture, and holds dumps of them against that.
//
//	for _, h := range counters.Expect(r) { … }
//
// Expectations come from the finished report alone. They are of the traffic in
// the capture: an adapter counts what passes elsewhere, too. Counters have the
// names of the mlx5 driver; Canonical knows what other drivers call them.
//
// The package never looks at a packet, and never at an adapter.
package counters

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/rocescope/rocescope/analysis/report"
)

// Expect returns what the counters of each host in the report's flows should
// have risen by, hosts by address, counters in the order of Names.
func Expect(r *report.Report) []report.HostCounters {
	hosts := hostsOf(r)
	gaps := missed(r)
	out := make([]report.HostCounters, 0, len(hosts))
	for _, h := range hosts {
		h.missed = gaps
		h.look()
		one := report.HostCounters{Host: h.name.addr, VNI: h.vni, VLAN: h.vlan, Counters: make([]report.Counter, 0, len(table))}
		for _, c := range table {
			one.Counters = append(one.Counters, h.expected(&c))
		}
		out = append(out, one)
	}
	return out
}

func (h *host) expected(c *counter) report.Counter {
	e := c.expect(h)
	bound, why := e.bound()
	if bound == report.Unknown {
		e.value = 0
	}
	return report.Counter{Name: c.name, With: c.with, Value: e.value, Bound: bound, Why: why}
}

// Names returns the names of all counters, in the order of Expect.
func Names() []string {
	var names []string
	for _, c := range table {
		names = append(names, c.name)
	}
	return names
}

// hostName tells hosts apart; networks of several tenants repeat addresses.
type hostName struct {
	addr      string
	vni, vlan int64 // -1 none
}

// host is one host's part of the report.
type host struct {
	name      hostName
	vni, vlan *uint32
	sent, got []*report.Flow // rows from the host, and to it
	missed    string         // why the capture lacks frames; empty where it does not
	timedOut  map[partner]bool
	// How much of what the host sent, and got, is not in view.
	blindFrom, blindTo blindness
}

type blindness int

const (
	seen blindness = iota
	partly
	blind
)

func hostsOf(r *report.Report) []*host {
	hosts := map[hostName]*host{}
	at := func(addr string, f *report.Flow) *host {
		name := hostName{addr, number(f.VNI), number(f.VLAN)}
		if hosts[name] == nil {
			hosts[name] = &host{name: name, vni: f.VNI, vlan: f.VLAN}
		}
		return hosts[name]
	}
	for i := range r.Flows {
		f := &r.Flows[i]
		if f.Src == report.Other {
			continue
		}
		h := at(f.Src, f)
		h.sent = append(h.sent, f)
		if addr, err := netip.ParseAddr(f.Dst); err == nil && addr.IsMulticast() {
			continue // a group has no adapter
		}
		h = at(f.Dst, f)
		h.got = append(h.got, f)
	}
	out := make([]*host, 0, len(hosts))
	for _, h := range hosts {
		out = append(out, h)
	}
	slices.SortFunc(out, compareHosts)
	return out
}

func number(n *uint32) int64 {
	if n == nil {
		return -1
	}
	return int64(*n)
}

func compareHosts(a, b *host) int {
	x, _ := netip.ParseAddr(a.name.addr)
	y, _ := netip.ParseAddr(b.name.addr)
	return cmp.Or(x.Compare(y), cmp.Compare(a.name.addr, b.name.addr),
		cmp.Compare(a.name.vni, b.name.vni), cmp.Compare(a.name.vlan, b.name.vlan))
}

// missed says why the capture does not hold every frame that passed the tap.
func missed(r *report.Report) string {
	for i := range r.Captures {
		switch c := &r.Captures[i]; {
		case c.Damaged != "":
			return "the capture is damaged"
		case c.Dropped > 0:
			return "the capturing host dropped frames"
		}
	}
	t := &r.Totals
	switch {
	case t.MirrorLost > 0:
		return "the mirror lost frames"
	case t.FlowsNotTracked > 0:
		return "there are more flows than were followed"
	case t.CutShort+t.Fragments+t.Malformed > 0:
		return "some frames could not be read"
	}
	for i := range r.Flows {
		if f := &r.Flows[i]; f.NotCaptured+f.ResponseNotCaptured > 0 {
			return "the capture missed frames"
		}
	}
	return ""
}

// look finds out which directions of the host's connections are in view, and
// which of its queue pairs had to wait for their timers.
func (h *host) look() {
	to, from := map[string]bool{}, map[string]bool{}
	for _, f := range h.sent {
		if connected(f) {
			to[f.Dst] = true
		}
		if timedOut(f) {
			if h.timedOut == nil {
				h.timedOut = map[partner]bool{}
			}
			h.timedOut[partner{f.Dst, int64(f.DestQP)}] = true
			h.timedOut[partner{f.Dst, -1}] = true
		}
	}
	for _, f := range h.got {
		if connected(f) {
			from[f.Src] = true
		}
	}
	h.blindFrom, h.blindTo = lacking(from, to), lacking(to, from)
}

// connected reports whether something must travel the other way, too.
func connected(f *report.Flow) bool { return f.Transport != "UD" && f.Transport != "UC" }

// lacking says how many of the peers are not among those seen.
func lacking(peers, seenOf map[string]bool) blindness {
	n := 0
	for p := range peers {
		if !seenOf[p] {
			n++
		}
	}
	switch {
	case n == 0:
		return seen
	case n == len(peers) && len(seenOf) == 0:
		return blind
	}
	return partly
}
