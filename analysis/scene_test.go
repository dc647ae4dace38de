package analysis

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/decode/ib"
)

// scene is a case: a script and all events that it must show. What it wants
// holds for each way of numbering, unless ids names one.
type scene struct {
	name   string
	script string
	want   string // "gap@3 lost_upstream@3-4"; see outcome.text
	ids    []idMode
	cold   bool              // nothing passes before the script
	tr     ib.Transport      // RC where not set
	starts map[string]ib.PSN // of speakers that start elsewhere
	rows   map[string]string // columns by row: "frames=3 messages=2"
	marks  string            // a verdict a packet: . R(esent) C(opy) S(tray)
}

// starts are where the PSNs of a scene begin; from the second they wrap soon.
var startPSNs = []ib.PSN{5000, 0xFFFFFE}

func playScenes(t *testing.T, scenes []scene) {
	t.Helper()
	for _, c := range scenes {
		ids := c.ids
		if ids == nil {
			ids = allIDs
		}
		for _, mode := range ids {
			for _, start := range startPSNs {
				t.Run(fmt.Sprintf("%s, with %s from PSN %#x", c.name, mode, uint32(start)), func(t *testing.T) {
					c.play(t, newScript(mode, start))
				})
			}
		}
	}
}

func (c *scene) play(t *testing.T, s *script) {
	t.Helper()
	s.tr, s.starts = c.tr, maps.Clone(c.starts)
	if !c.cold {
		s.warm()
	}
	n := len(s.packets)
	o := s.say(c.script).play()
	if got, want := o.text(), strings.Join(strings.Fields(c.want), " "); got != want {
		t.Errorf("%s\n got %s\nwant %s", c.script, got, want)
	}
	if got := o.marks()[n:]; c.marks != "" && got != c.marks {
		t.Errorf("%s\nverdicts %s\nwant     %s", c.script, got, c.marks)
	}
	o.eventsStandInTheirRow(t)
	for who, columns := range c.rows {
		o.wantColumns(t, who, columns)
	}
}
