package synth_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/detect"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/pcaps/synth"
)

// defaultRate is that of a network that names none, in Gbit/s.
const defaultRate = 25

// pausesFound says which rules of pauses each scenario of the catalogue must give
// above info; the others must give none.
var pausesFound = map[string][]string{
	"pfc-slow-receiver": {"pfc.host", "pfc.paused"},
	"pfc-upstream":      {"ecn.after-pfc", "pfc.paused"},
	"pfc-victim":        {"ecn.after-pfc", "pfc.paused"},
	"pause-global":      {"pause.global", "pfc.host"},
	"pfc-storm":         {"pfc.host", "pfc.paused", "pfc.storm"},
	"pfc-before-ecn":    {"ecn.after-pfc", "pfc.paused"},
	"xoff-lost":         {"pfc.host", "pfc.paused"},
	"xon-lost":          {"pfc.host", "pfc.paused"},
}

func TestPausesOfTheCatalogue(t *testing.T) {
	for _, s := range synth.Scenarios() {
		t.Run(s.Name, func(t *testing.T) {
			r := withRate(t, s, synth.Run(s).Frames)
			var got []string
			for _, f := range r.Findings {
				family, _, _ := strings.Cut(f.Rule, ".")
				if f.Severity != report.Info && (family == "pfc" || family == "pause" || f.Rule == "ecn.after-pfc") {
					got = append(got, f.Rule)
				}
			}
			slices.Sort(got)
			if got = slices.Compact(got); !slices.Equal(got, pausesFound[s.Name]) {
				t.Errorf("found %q, want %q", got, pausesFound[s.Name])
			}
		})
	}
}

// TestPausesAreFollowedToTheirOrigin taps every link on the way from the senders
// to a slow host.
func TestPausesAreFollowedToTheirOrigin(t *testing.T) {
	i := slices.IndexFunc(synth.Scenarios(), func(s *synth.Scenario) bool { return s.Name == "pfc-upstream" })
	s := synth.Scenarios()[i]
	s.MoreTaps = []synth.Tap{synth.AtHost(5), synth.AtHost(1), synth.AtLink("leaf2", "spine1")}
	c := synth.Run(s)
	var frames []decode.Frame
	for i, c := range append([]*synth.Capture{c}, c.More...) {
		for _, f := range c.Frames {
			f.Iface = uint16(i)
			frames = append(frames, f)
		}
	}
	slices.SortStableFunc(frames, func(a, b decode.Frame) int { return cmp.Compare(a.Time, b.Time) })
	for i := range frames {
		frames[i].Number = uint64(i + 1)
	}
	first, behind := 0, 0
	for _, f := range withRate(t, s, frames).Findings {
		if f.Rule != "pfc.paused" {
			continue
		}
		switch {
		case strings.HasPrefix(f.Summary, "10.0.0.5 ") && strings.Contains(f.Summary, "it was the first to pause, switch port"):
			first++
		case strings.HasPrefix(f.Advice, "Look first at 10.0.0.5 "):
			behind++
		default:
			t.Errorf("no origin: %s", f.Summary)
		}
	}
	if first != 1 || behind != 3 {
		t.Errorf("%d ports paused first and %d behind it, want 1 and 3", first, behind)
	}
}

// withRate analyzes frames of a scenario with the rate of its links.
func withRate(t *testing.T, s *synth.Scenario, frames []decode.Frame) *report.Report {
	t.Helper()
	cfg := analysis.Defaults(1)
	cfg.LinkRate = 1e9 * cmp.Or(s.Network.Rate, defaultRate)
	r, err := analysis.Run(t.Context(), &source{frames, s.File.SnapLen}, detect.All(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	analysis.Judge(r, detect.All(), cfg)
	return r
}
