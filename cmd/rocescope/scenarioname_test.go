package main

import (
	"slices"
	"testing"
)

func TestSimilar(t *testing.T) {
	names := []string{"dcqcn-incast", "incast-tail-drop", "pfc-storm", "reorder", "rnr", "clean"}
	for said, want := range map[string][]string{
		"incast":    {"dcqcn-incast", "incast-tail-drop"},
		"pfc_strom": {"pfc-storm"},
		"Clean":     {"clean"},
		"reordr":    {"reorder"},
		"rn":        {"rnr"},
		"zebra":     {},
		"":          {},
	} {
		if got := similar(said, names); !slices.Equal(got, want) {
			t.Errorf("%q is like %q, want %q", said, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "axc", 1},
		{"storm", "strom", 2}, {"rnr", "rnr-codes", 6}, {"kitten", "sitting", 3},
	} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("from %q to %q it is %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
