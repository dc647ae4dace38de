package main

import (
	"fmt"
	"strings"
)

// script is what the guest does for a scenario, in terms of guest/lib.sh.
func (s *scenario) script() string {
	lines := []string{". ../lib.sh", fmt.Sprintf("start %d", s.MTU), s.Net.String()}
	if s.VLAN != 0 {
		lines = append(lines, fmt.Sprintf("tagged %d", s.VLAN))
	}
	lines = append(lines, "devices")
	lines = append(lines, s.Mirror.script()...)
	for _, f := range s.Faults {
		lines = append(lines, f.Setup...)
	}
	lines = append(lines, "begin")
	lines = append(lines, s.programs("before")...)
	for _, t := range s.Taps {
		lines = append(lines, fmt.Sprintf("tap %s %d %s '%s'", t.Point, t.Snap, s.precision(), s.Filter))
	}
	for _, f := range s.Faults {
		lines = append(lines, f.Live...)
	}
	lines = append(lines, s.programs("run", "beside")...)
	return strings.Join(append(lines, "finish"), "\n") + "\n"
}

// precision is that of the times. Only plain pcap has microseconds.
func (s *scenario) precision() string {
	if format, _, _ := strings.Cut(s.Sample.Format, "."); format == "pcap" {
		return "micro"
	}
	return "nano"
}

// programs are the lines that start the programs of some keywords.
func (s *scenario) programs(when ...string) []string {
	var out []string
	for _, p := range s.Runs {
		for _, w := range when {
			if p.When == w {
				out = append(out, start[p.When]+" "+p.Line)
			}
		}
	}
	return out
}

// start is how the guest starts what stands in a line of each keyword.
var start = map[string]string{"run": "program", "beside": "alongside", "before": "around"}

func (m mirror) script() []string {
	if m.To == "" {
		return nil
	}
	lines := []string{"mirror_port " + m.To}
	for _, h := range m.Hooks {
		lines = append(lines, "hook "+h.String(),
			fmt.Sprintf("change %s tc filter add dev %[1]s %s matchall action mirred egress mirror dev mirror", h.Port, strings.TrimPrefix(h.String(), h.Port+":")))
	}
	return lines
}
