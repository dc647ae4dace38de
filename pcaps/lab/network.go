package main

import (
	"fmt"
	"slices"
	"strconv"
)

// A network is how hosts are joined: by one switch, or by two leaves and two
// spines.
type network struct {
	LeafSpine bool
	Hosts     int
}

func (n network) String() string {
	if n.LeafSpine {
		return "leafspine"
	}
	return "bridged " + strconv.Itoa(n.Hosts)
}

// uplinks are the ports between leaves and spines, in the order in which a
// packet from leaf a to leaf b may pass them.
func uplinks(a, b int) [][]string {
	port := func(format string, x int) []string {
		return []string{fmt.Sprintf(format, x, 1), fmt.Sprintf(format, x, 2)}
	}
	return [][]string{port("l%[1]ds%[2]d", a), port("p%[2]dl%[1]d", a), port("p%[2]dl%[1]d", b), port("l%[1]ds%[2]d", b)}
}

func leaf(host int) int { return (host + 1) / 2 }

// path is where packets of one host to another pass, in order. Where they may
// take either of two ways, one step names both.
func (n network) path(from, to int) [][]string {
	out := [][]string{{"h" + strconv.Itoa(from)}, {"s" + strconv.Itoa(from)}}
	if n.LeafSpine && leaf(from) != leaf(to) {
		out = append(out, uplinks(leaf(from), leaf(to))...)
	}
	return append(out, []string{"s" + strconv.Itoa(to)}, []string{"h" + strconv.Itoa(to)})
}

// points are all ports and host devices.
func (n network) points() []string {
	var out []string
	for i := 1; i <= n.Hosts; i++ {
		out = append(out, "h"+strconv.Itoa(i), "s"+strconv.Itoa(i))
	}
	if n.LeafSpine {
		out = append(out, slices.Concat(uplinks(1, 2)...)...)
	}
	return out
}
