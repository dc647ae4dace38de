package detect

import (
	"slices"
	"strings"

	"github.com/rocescope/rocescope/analysis/report"
)

// pfcRole is what a pausing MAC is, as far as the RoCE frames with it tell.
type pfcRole uint8

const (
	roleUnknown   pfcRole = iota // RoCE goes to it and none comes from it, or there is none at all
	roleMaybeHost                // RoCE of several senders goes to it, all of it to one address, and none comes from it
	roleHost                     // it sends RoCE of one address in each VLAN, which no router has touched
	roleRouter                   // it sends RoCE of several addresses, or what was routed
	roleSwitch                   // it has no part in any RoCE frame: a port that only forwards
	roleNobody                   // no port can have it
)

// macSender is an address in a VLAN.
type macSender struct{ vlan, addr string }

// macUse is how RoCE frames bear one MAC.
type macUse struct {
	from, to         []macSender // that send with it, or are reached by it
	routed, unrouted int64       // frames from it
}

func macUses(r *report.Report) map[string]*macUse {
	out := map[string]*macUse{}
	for _, row := range r.Rows("pfc", "macs") {
		u := out[row.Key[0]]
		if u == nil {
			u = &macUse{}
			out[row.Key[0]] = u
		}
		who := macSender{row.Key[1], row.Key[2]}
		if row.Values[1] > 0 {
			u.to = append(u.to, who)
		}
		if row.Values[0] > 0 {
			u.from = append(u.from, who)
			u.routed += row.Values[2]
			u.unrouted += row.Values[0] - row.Values[2]
		}
	}
	return out
}

// roleOf tells what a MAC is in a report.
func (u *macUse) roleOf(mac string, r *report.Report) pfcRole {
	switch {
	case impossibleMAC(mac) != "":
		return roleNobody
	case u == nil && r.Totals.RoCE > 0:
		return roleSwitch
	case u == nil:
		return roleUnknown
	case len(u.from) == 0 && oneHost(u.to) && sendersTo(r, u.to) > 1:
		return roleMaybeHost
	case len(u.from) == 0:
		return roleUnknown
	case u.routed > u.unrouted || !oneHost(u.from):
		return roleRouter
	}
	return roleHost
}

// sendersTo returns how many addresses send to some.
func sendersTo(r *report.Report, to []macSender) int {
	found := map[string]bool{}
	for i := range r.Flows {
		f := &r.Flows[i]
		if slices.ContainsFunc(to, func(s macSender) bool { return s.addr == f.Dst }) {
			found[f.Src] = true
		}
	}
	return len(found)
}

// oneHost reports whether addresses can be one adapter's: in each VLAN one of
// IPv4, one of IPv6, and one of the link alone.
func oneHost(senders []macSender) bool {
	seen := map[macSender]bool{}
	for _, s := range senders {
		k := macSender{s.vlan, "4"}
		switch {
		case strings.HasPrefix(s.addr, "fe80:"):
			k.addr = "link"
		case strings.Contains(s.addr, ":"):
			k.addr = "6"
		}
		if seen[k] {
			return false
		}
		seen[k] = true
	}
	return true
}

// macAddresses returns addresses for a reader, each once.
func macAddresses(senders []macSender) string {
	var out []string
	for _, s := range senders {
		if !slices.Contains(out, s.addr) {
			out = append(out, s.addr)
		}
	}
	return strings.Join(out, ", ")
}

// how says how a role is known.
func (k pfcRole) how() string {
	switch k {
	case roleHost:
		return "that MAC sends RoCE of its own address alone, with a TTL that no router has lowered"
	case roleMaybeHost:
		return "all RoCE that goes to that MAC is for one address, from several senders; none comes from it here, so it might still be a router before that host"
	case roleRouter:
		return "that MAC forwards RoCE of other addresses, so it is a router's port"
	case roleSwitch:
		return "no RoCE frame of this capture comes from that MAC or goes to it, as it would with a host, so it is a switch's port"
	case roleNobody:
		return "that MAC can be nobody's"
	}
	return "no RoCE frame of this capture comes from that MAC, so a host and the router in front of it look alike"
}
