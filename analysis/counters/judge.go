package counters

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"

	"github.com/rocescope/rocescope/analysis/report"
)

// judge holds a counter against what is expected of it.
func (t *total) judge(want report.Counter) report.ReadCounter {
	c := report.ReadCounter{Name: strings.Join(t.names, " + "), Before: t.before, After: t.after, Expected: want}
	if t.reads&second == 0 {
		c.Once, c.Before, c.After = true, 0, t.before
	}
	c.Rise = int64(min(c.After-min(c.After, c.Before), math.MaxInt64))
	c.Verdict, c.Text = t.verdict(&c)
	return c
}

func (t *total) verdict(c *report.ReadCounter) (report.Verdict, string) {
	want := &c.Expected
	least, most, why := t.limits(want)
	switch {
	case t.mixed || t.reads == second:
		return report.Untold, "the first reading does not hold all of it"
	case c.After < c.Before:
		return report.Rewound, "it fell: the driver was loaded anew in between, or a counter of 32 bits began again"
	case want.Bound == report.Unknown:
		return report.Untold, "this tap does not tell: " + want.Why
	case c.Rise < least:
		return report.Fewer, fmt.Sprintf("%s fewer than the capture shows: read too early, of another adapter, or lost behind the tap", report.Count(least-c.Rise))
	case c.Rise > most && c.Once:
		return report.Untold, "it counts since the driver was loaded; a reading before the capture would tell"
	case c.Rise > most:
		return report.More, fmt.Sprintf("%s more than the capture shows: before or after it, or not past this tap", report.Count(c.Rise-most))
	case want.Bound == report.Exact && why == "":
		return report.Fits, "as the capture says"
	case why != "":
		return report.Fits, "fits: " + why
	case want.Bound == report.AtLeast && c.Rise > want.Value && want.Value > 0:
		return report.Fits, fmt.Sprintf("%s more, which fits: %s", report.Count(c.Rise-want.Value), want.Why)
	}
	return report.Fits, "fits: " + want.Why
}

// limits returns what fits the expectation, given the names that the driver
// has for the counter, and why they widen it.
func (t *total) limits(want *report.Counter) (least, most int64, why string) {
	least, most = want.Value, want.Value
	if want.Bound == report.AtLeast || want.Bound == report.About {
		most = math.MaxInt64
	}
	if want.Bound == report.AtMost || want.Bound == report.About {
		least = 0
	}
	for _, name := range t.names {
		if fewer := aliases[name].fewer; fewer != "" && want.Value > 0 {
			least, why = 0, fewer
		}
	}
	if want.With != "" && slices.Equal(t.names, []string{want.Name}) && want.Value > 0 {
		least, why = 0, want.With+" was not read"
	}
	return least, most, why
}

// sameAddress compares addresses however they are spelled.
func sameAddress(a, b string) bool {
	if a == b {
		return true
	}
	x, err := netip.ParseAddr(a)
	if err != nil {
		return false
	}
	y, err := netip.ParseAddr(b)
	return err == nil && x.Unmap() == y.Unmap()
}
