package main

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed scenarios
var described string

// A scenario is what the file scenarios says of it.
type scenario struct {
	Name   string
	About  string
	Lines  []string // as they stand in the file
	Net    network
	MTU    int
	VLAN   int // 0: no tagged devices
	Mirror mirror
	Filter string // of the taps, as tcpdump understands it
	Taps   []tap
	Sample sample
	Faults []fault
	Runs   []program
}

// A tap is a place where frames are recorded.
type tap struct {
	Point string
	Snap  int // bytes kept of a frame; 0: all
}

// A mirror copies what passes some ports.
type mirror struct {
	Hooks []hook
	To    string // "plain", "vxlan" or "erspan"; empty: there is none
}

// A hook is one direction of a port, as tc hangs filters there.
type hook struct {
	Port string
	In   bool
}

func (h hook) String() string {
	if h.In {
		return h.Port + ":ingress"
	}
	return h.Port + ":egress"
}

// A sample is what becomes one file: what some taps saw.
type sample struct {
	Points []string
	Format string
}

// A program is traffic: a line of the guest's script.
type program struct {
	When string // "run", "beside" or "before"
	Line string
}

// scenarios returns all, in the order of the file.
func scenarios() ([]*scenario, error) { return parse("scenarios", described) }

// named returns some scenarios, or all where no name is given.
func named(names []string) ([]*scenario, error) {
	all, err := scenarios()
	if err != nil || len(names) == 0 {
		return all, err
	}
	var out []*scenario
	for _, n := range names {
		i := slices.IndexFunc(all, func(s *scenario) bool { return s.Name == n })
		if i < 0 {
			return nil, fmt.Errorf("there is no scenario %q; list names them all", n)
		}
		out = append(out, all[i])
	}
	return out, nil
}

// has reports whether a point can be tapped or disturbed.
func (s *scenario) has(point string) bool {
	switch point {
	case "mirror":
		return s.Mirror.To != ""
	case "collector":
		return s.Mirror.To != "" && s.Mirror.To != "plain"
	}
	return slices.Contains(s.Net.points(), point)
}

// tapped reports whether a point is recorded.
func (s *scenario) tapped(point string) bool {
	return slices.ContainsFunc(s.Taps, func(t tap) bool { return t.Point == point })
}

// extension is the end of a sample's file name.
func (s sample) extension() string {
	name, packed, _ := strings.Cut(s.Format, ".")
	if name == "pcap-ns" {
		name = "pcap"
	}
	if packed != "" {
		packed = "." + packed
	}
	return "." + name + packed
}
