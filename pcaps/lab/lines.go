package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

func (s *scenario) setAbout(w []string) error {
	s.About = strings.Join(w[1:], " ")
	return nil
}

// setNet understands "bridge N" and "leafspine".
func (s *scenario) setNet(w []string) (err error) {
	if len(w) == 2 && w[1] == "leafspine" {
		s.Net = network{LeafSpine: true, Hosts: 4}
		return nil
	}
	if len(w) != 3 || w[1] != "bridge" {
		return fmt.Errorf("say bridge and how many hosts, or leafspine")
	}
	s.Net.Hosts, err = number(w[1:], 2, 9)
	return err
}

// setMirror understands "PORT:in PORT:out... to plain|vxlan|erspan".
func (s *scenario) setMirror(w []string) error {
	n := len(w)
	if n < 4 || w[n-2] != "to" || !slices.Contains([]string{"plain", "vxlan", "erspan"}, w[n-1]) {
		return fmt.Errorf("say which ports, as s1:in s2:out, and then: to plain, to vxlan or to erspan")
	}
	if s.Net.LeafSpine {
		return fmt.Errorf("only a bridge has one")
	}
	for _, word := range w[1 : n-2] {
		h, err := s.hook(word)
		if err != nil {
			return err
		}
		s.Mirror.Hooks = append(s.Mirror.Hooks, h)
	}
	s.Mirror.To = w[n-1]
	return nil
}

// hook understands "PORT:in", "PORT:out" and "PORT", which is out.
func (s *scenario) hook(word string) (hook, error) {
	port, dir, _ := strings.Cut(word, ":")
	if !s.has(port) {
		return hook{}, fmt.Errorf("there is no port %q here", port)
	}
	if dir != "" && dir != "in" && dir != "out" {
		return hook{}, fmt.Errorf("a port has an in and an out, no %q", dir)
	}
	return hook{Port: port, In: dir == "in"}, nil
}

func (s *scenario) setFilter(w []string) error {
	s.Filter = strings.Join(w[1:], " ")
	if s.Filter == "" || strings.ContainsRune(s.Filter, '\'') {
		return fmt.Errorf("say what to keep, as tcpdump understands it, without quotes")
	}
	return nil
}

// addTaps understands "POINT..." and "POINT:SNAPLEN...".
func (s *scenario) addTaps(w []string) error {
	for _, word := range w[1:] {
		point, snap, cut := strings.Cut(word, ":")
		t := tap{Point: point}
		if !s.has(point) || s.tapped(point) {
			return fmt.Errorf("there is no point %q here, or it is tapped already", point)
		}
		if cut {
			var err error
			if t.Snap, err = number([]string{word, snap}, 64, 65535); err != nil {
				return err
			}
		}
		s.Taps = append(s.Taps, t)
	}
	return nil
}

var formats = []string{"pcap", "pcap.gz", "pcap-ns", "pcap-ns.gz", "pcapng", "pcapng.gz"}

// setSample understands "POINT... as FORMAT".
func (s *scenario) setSample(w []string) error {
	n := len(w)
	if n < 4 || w[n-2] != "as" || !slices.Contains(formats, w[n-1]) {
		return fmt.Errorf("say which taps, and then as and one of %s", strings.Join(formats, ", "))
	}
	s.Sample = sample{Points: w[1 : n-2], Format: w[n-1]}
	for _, p := range s.Sample.Points {
		if !s.tapped(p) {
			return fmt.Errorf("%q is not tapped", p)
		}
	}
	if len(s.Sample.Points) > 1 && !strings.HasPrefix(s.Sample.Format, "pcapng") {
		return fmt.Errorf("only a pcapng holds what several taps saw")
	}
	return nil
}

// number understands the one word behind a keyword.
func number(w []string, least, most int) (int, error) {
	if len(w) != 2 {
		return 0, fmt.Errorf("say one number")
	}
	n, err := strconv.Atoi(w[1])
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%q is no number from %d to %d", w[1], least, most)
	}
	return n, nil
}
