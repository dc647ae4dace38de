package main

import "testing"

func TestRowsTellBeforeFromBehind(t *testing.T) {
	s := &scenario{Net: network{Hosts: 2}, Taps: []tap{{"h1", 0}, {"s1", 0}, {"h2", 0}}, Sample: sample{Points: []string{"s1"}}}
	r := &recording{scenario: s, seen: map[string][]frame{"h1": packets(1, 2, 3, 4), "s1": packets(1, 2, 4), "h2": packets(1, 4)}}
	rows := r.rows(&truth{Between: r.between()})
	if len(rows) != 1 || rows[0].LostBefore != 1 || rows[0].LostBehind != 1 || rows[0].Frames != 3 {
		t.Errorf("the rows are %+v", rows)
	}
}

func TestRowsOfAMirrorTellWhatItMissed(t *testing.T) {
	s := &scenario{Net: network{Hosts: 2}, Taps: []tap{{"mirror", 0}, {"h1", 0}, {"h2", 0}}, Sample: sample{Points: []string{"mirror"}}}
	s.Mirror = mirror{Hooks: []hook{{"s1", true}}, To: "plain"}
	r := &recording{scenario: s, seen: map[string][]frame{"h1": packets(1, 2, 3, 4), "mirror": packets(1, 2, 2), "h2": packets(1, 2, 3)}}
	rows := r.rows(&truth{Between: r.between()})
	if len(rows) != 1 || rows[0].NotCaptured != 2 || rows[0].LostBehind != 1 || rows[0].Copies != 1 || rows[0].LostBefore != 0 {
		t.Errorf("the rows are %+v", rows[0])
	}
}
