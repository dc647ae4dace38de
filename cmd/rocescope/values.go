package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The kinds of value that flags take beyond pflag's own.

// rate is a rate of bits per second, as "100G".
type rate float64

func (r *rate) Type() string { return "RATE" }

// String returns the rate as Set takes it; empty for 0, which is no rate.
func (r *rate) String() string {
	if *r == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(*r)/1e9, 'g', -1, 64) + "G"
}

// Set takes a number with a unit: 400G, 25 Gbit/s, 1.6Tb. Without a unit it
// would be a guess whether 100 means bits or gigabits.
func (r *rate) Set(s string) error {
	text := strings.TrimSpace(s)
	i := strings.IndexFunc(text, func(c rune) bool { return (c < '0' || c > '9') && c != '.' })
	if i < 0 {
		return fmt.Errorf("%s of what? name the unit, as in %sG", s, text)
	}
	v, err := strconv.ParseFloat(text[:i], 64)
	unit := strings.ToLower(strings.TrimSpace(text[i:]))
	scale, ok := map[byte]float64{'k': 1e3, 'm': 1e6, 'g': 1e9, 't': 1e12}[unit[0]]
	if err != nil || !ok || !slices.Contains([]string{"", "b", "bit", "bits", "bps", "b/s", "bit/s", "bits/s", "be"}, unit[1:]) || v <= 0 {
		return fmt.Errorf("%q is no rate; write it as 100G or 25Gbit/s", s)
	}
	*r = rate(v * scale)
	return nil
}

// choice is one of a list of words.
type choice struct {
	value string
	from  []string
}

func (c *choice) Type() string   { return strings.Join(c.from, "|") }
func (c *choice) String() string { return c.value }

func (c *choice) Set(s string) error {
	if !slices.Contains(c.from, s) {
		return fmt.Errorf("%q is none of %s", s, strings.Join(c.from, ", "))
	}
	c.value = s
	return nil
}

// natural is a whole number of at least 1.
type natural int

func (n *natural) Type() string   { return "N" }
func (n *natural) String() string { return strconv.Itoa(int(*n)) }

func (n *natural) Set(s string) error {
	v, err := strconv.Atoi(s)
	if err != nil || v < 1 {
		return fmt.Errorf("%q is no number from 1 on", s)
	}
	*n = natural(v)
	return nil
}

// port is a UDP port.
type port uint16

func (p *port) Type() string   { return "PORT" }
func (p *port) String() string { return strconv.Itoa(int(*p)) }

func (p *port) Set(s string) error {
	v, err := strconv.ParseUint(s, 0, 16)
	if err != nil || v == 0 {
		return fmt.Errorf("%q is no UDP port; those go from 1 to 65535", s)
	}
	*p = port(v)
	return nil
}
