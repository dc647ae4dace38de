package counters

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/rocescope/rocescope/analysis/report"
)

// Compare holds readings against what the report expects, a Reading for each
// host, in the order of the files. An error says that a reading cannot be
// assigned to a host of the report.
func Compare(expected []report.HostCounters, devices []*Device) ([]report.Reading, error) {
	var out []report.Reading
	var groups [][]*Device
	for _, d := range devices {
		i := slices.IndexFunc(groups, func(g []*Device) bool { return slices.Equal(g[0].Hosts, d.Hosts) })
		if i < 0 {
			groups = append(groups, []*Device{d})
			continue
		}
		groups[i] = append(groups[i], d)
	}
	for _, g := range groups {
		hosts, err := hostsNamed(expected, g[0])
		if err != nil {
			return nil, err
		}
		out = append(out, reading(hosts, g))
	}
	return out, nil
}

// hostsNamed returns what is expected at the addresses of a device.
func hostsNamed(expected []report.HostCounters, d *Device) ([]report.HostCounters, error) {
	var all []string
	for _, h := range expected {
		if !slices.Contains(all, h.Host) {
			all = append(all, h.Host)
		}
	}
	names := d.Hosts
	switch {
	case len(all) == 0:
		return nil, errors.New("the capture has no host of RoCE whose counters could be told")
	case len(names) == 0 && len(all) == 1:
		names = all
	case len(names) == 0:
		return nil, fmt.Errorf("%s: it is not said whose counters these are; a line \"# host %s\" before them does", d.place, all[0])
	}
	var out []report.HostCounters
	for _, name := range names {
		before := len(out)
		for _, h := range expected {
			if sameAddress(h.Host, name) {
				out = append(out, h)
			}
		}
		if len(out) == before {
			return nil, fmt.Errorf("%s: the capture has no host %s; it has %s", d.place, name, few(all))
		}
	}
	return out, nil
}

func few(names []string) string {
	const most = 6
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// reading compares the devices of one host.
func reading(hosts []report.HostCounters, devices []*Device) report.Reading {
	r := report.Reading{}
	for _, h := range hosts {
		if !slices.Contains(r.Hosts, h.Host) {
			r.Hosts = append(r.Hosts, h.Host)
		}
	}
	sums := make([]*total, len(table))
	for _, d := range devices {
		if d.Name != "" {
			r.Devices = append(r.Devices, d.Name)
		}
		r.Others += addDevice(sums, d)
	}
	for i, t := range sums {
		if t != nil {
			r.Counters = append(r.Counters, t.judge(combined(hosts, i)))
		}
	}
	return r
}

// total is a counter of the table, added over devices.
type total struct {
	names         []string
	before, after uint64
	reads         reads
	mixed         bool // not all of its parts were read equally often
}

// addDevice adds the counters of a device, and returns how many of them no
// capture can tell.
func addDevice(sums []*total, d *Device) (others int64) {
	for _, c := range d.Counters {
		name, ok := Canonical(c.Name)
		if !ok {
			others++
			continue
		}
		i := slices.IndexFunc(table, func(x counter) bool { return x.name == name })
		if sums[i] == nil {
			sums[i] = &total{reads: c.Reads}
		}
		t := sums[i]
		if !slices.Contains(t.names, c.Name) {
			t.names = append(t.names, c.Name)
		}
		t.before, t.after = added(t.before, c.Before), added(t.after, c.After)
		t.mixed = t.mixed || t.reads != c.Reads
	}
	return others
}

// added is a sum that stays at the largest number.
func added(a, b uint64) uint64 {
	sum, carry := bits.Add64(a, b, 0)
	if carry != 0 {
		return math.MaxUint64
	}
	return sum
}

// combined adds what is expected of counter i at several addresses.
func combined(hosts []report.HostCounters, i int) report.Counter {
	var e expectation
	untold := 0
	for _, h := range hosts {
		c := expectedOf(&h, table[i].name)
		e.value += c.Value
		why := c.Why + " " // a report that was written without a reason has one
		e.mayBeLess(c.Bound == report.AtMost || c.Bound == report.About, why)
		e.mayBeMore(c.Bound == report.AtLeast || c.Bound == report.About || c.Bound == report.Unknown, why)
		if c.Bound == report.Unknown {
			untold++
		}
	}
	e.cannotTell(untold == len(hosts), expectedOf(&hosts[0], table[i].name).Why+" ")
	bound, why := e.bound()
	return report.Counter{Name: table[i].name, With: table[i].with, Value: e.value, Bound: bound, Why: strings.TrimSpace(why)}
}

// expectedOf returns a counter of a host; what a report does not list is unknown.
func expectedOf(h *report.HostCounters, name string) report.Counter {
	for _, c := range h.Counters {
		if c.Name == name {
			return c
		}
	}
	return report.Counter{Name: name, Bound: report.Unknown}
}
