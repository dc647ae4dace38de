package detect

import (
	"slices"
	"strings"

	"github.com/rocescope/rocescope/analysis/report"
)

// pfcRole is what a pausing MAC is, as far as the RoCE frames with it tell.
type pfcRole uint8

const (
	roleUnknown pfcRole = iota // RoCE goes to it and none comes from it, or there is none at all
	roleHost                   // it sends RoCE of one address in each VLAN, which no router has touched
	roleRouter                 // it sends RoCE of several addresses, or what was routed
	roleSwitch                 // it has no part in any RoCE frame: a port that only forwards
	roleNobody                 // no port can have it
)

// macSender is an address in a VLAN.
type macSender struct{ vlan, addr string }

// macUse is how RoCE frames bear one MAC.
type macUse struct {
	from             []macSender // that send with it
	to               int64       // frames that go to it
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
		u.to += row.Values[1]
		if row.Values[0] > 0 {
			u.from = append(u.from, macSender{row.Key[1], row.Key[2]})
			u.routed += row.Values[2]
			u.unrouted += row.Values[0] - row.Values[2]
		}
	}
	return out
}

// roleOf tells what a MAC is; roce says whether the capture holds any RoCE.
func (u *macUse) roleOf(mac string, roce bool) pfcRole {
	switch {
	case impossibleMAC(mac) != "":
		return roleNobody
	case u == nil && roce:
		return roleSwitch
	case u == nil || len(u.from) == 0:
		return roleUnknown
	case u.routed > u.unrouted || !oneHost(u.from):
		return roleRouter
	}
	return roleHost
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

// addresses returns what sends with a MAC, for a reader.
func (u *macUse) addresses() string {
	var out []string
	for _, s := range u.from {
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
	case roleRouter:
		return "that MAC forwards RoCE of other addresses, so it is a router's port"
	case roleSwitch:
		return "no RoCE frame of this capture comes from that MAC or goes to it, as it would with a host, so it is a switch's port"
	case roleNobody:
		return "that MAC can be nobody's"
	}
	return "no RoCE frame of this capture comes from that MAC, so a host and the router in front of it look alike"
}
