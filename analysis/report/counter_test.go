package report

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

func withCounters() *Report {
	return &Report{
		Schema:   Schema,
		Counters: []HostCounters{{Host: "10.0.0.1", Counters: []Counter{{Name: "out_of_sequence", Value: 3, Bound: AtLeast, Why: "so"}}}},
		Readings: []Reading{{Hosts: []string{"10.0.0.1"}, Devices: []string{"mlx5_0/1"}, Counters: []ReadCounter{
			{Name: "out_of_sequence", After: 1<<64 - 1, Expected: Counter{Name: "out_of_sequence", Bound: Exact}, Verdict: More}}}},
	}
}

// Expected counters are derived: to add them would count rows twice once a
// judge derives them from the sum.
func TestMergeDropsExpectedCounters(t *testing.T) {
	for _, rs := range [][]*Report{{withCounters()}, {withCounters(), withCounters()}} {
		sum, err := Merge(rs...)
		if err != nil || sum.Counters != nil || sum.Readings != nil {
			t.Errorf("the sum of %d has counters %v and %v (%v)", len(rs), sum.Counters, sum.Readings, err)
		}
	}
}

func TestCountersInJSON(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, withCounters()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"counters": [`, `"bound": "at_least"`, `"counter_readings": [`, `"after": 18446744073709551615`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("there is no %s in\n%s", want, &b)
		}
	}
	got, err := Read(&b)
	if want := withCounters(); err != nil || !reflect.DeepEqual(got.Counters, want.Counters) || !reflect.DeepEqual(got.Readings, want.Readings) {
		t.Errorf("read %+v (%v)", got, err)
	}
	b.Reset()
	if err := Write(&b, &Report{Counters: []HostCounters{{}}, Readings: []Reading{{}}}); err != nil || strings.Contains(b.String(), "null") {
		t.Errorf("lists are null (%v):\n%s", err, &b)
	}
}
