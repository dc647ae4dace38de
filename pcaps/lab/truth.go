package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A truth is what is known of a recording from other sources than its captures,
// and from comparing them with each other.
type truth struct {
	Scenario string            `json:"scenario"`
	About    string            `json:"about"`
	Lines    []string          `json:"lines"`
	Kernel   string            `json:"kernel"`
	Packages map[string]string `json:"packages"`
	Commands []string          `json:"commands"`
	Captures []tapped          `json:"captures"`

	Pairs  [][2]queuePair `json:"queue_pairs,omitempty"`
	Sums   []sum          `json:"operations,omitempty"`
	Failed []failure      `json:"failed,omitempty"`

	RXE     map[string]map[string]int `json:"rxe"` // what rose
	Queues  []queue                   `json:"queues,omitempty"`
	Filters []filter                  `json:"filters,omitempty"`

	Between []difference `json:"between"`
	Ways    []way        `json:"ways,omitempty"`
	Notes   []string     `json:"notes"`
}

// A tapped is one capture.
type tapped struct {
	Tap      string `json:"tap"`
	File     string `json:"file"`
	SnapLen  int    `json:"snaplen"`
	Frames   int    `json:"frames"`
	RoCE     int    `json:"roce_frames"`
	Captured int    `json:"captured"` // what tcpdump says
	Dropped  int    `json:"dropped"`
}

// A way is which uplink the packets of one flow took.
type way struct {
	Tap    string `json:"tap"`
	Src    string `json:"src"`
	Dst    string `json:"dst"`
	Port   uint16 `json:"udp_source_port"`
	Frames int    `json:"frames"`
}

func (t *truth) note(format string, args ...any) {
	if n := fmt.Sprintf(format, args...); !slices.Contains(t.Notes, n) {
		t.Notes = append(t.Notes, n)
	}
}

// file is the name of a tap's capture.
func (t *truth) file(point string) string { return t.Scenario + "." + point + ".pcap" }

// truth gathers everything.
func (r *recording) truth() (*truth, error) {
	s := r.scenario
	t := &truth{Scenario: s.Name, About: s.About, Lines: s.Lines, Notes: []string{}}
	t.Kernel = strings.TrimSpace(r.text("kernel"))
	t.Packages = pairs(r.text("packages"))
	t.Commands = nonempty(r.text("commands"))
	for _, tap := range s.Taps {
		c, err := r.tapped(t, tap)
		if err != nil {
			return nil, err
		}
		t.Captures = append(t.Captures, c)
	}
	outputs, _ := filepath.Glob(filepath.Join(r.dir, "out.*.verbs"))
	for _, name := range outputs {
		t.listen(r.text(filepath.Base(name)))
	}
	for _, line := range nonempty(r.text("errors")) {
		t.note("the guest complained: %s", line)
	}
	if err := r.kernelSaid(t); err != nil {
		return nil, err
	}
	t.Between, t.Ways = r.between(), r.ways()
	r.check(t)
	return t, nil
}

func (r *recording) text(name string) string {
	b, _ := os.ReadFile(filepath.Join(r.dir, name)) // what is not there said nothing
	return string(b)
}

func (r *recording) tapped(t *truth, tap tap) (tapped, error) {
	c := tapped{Tap: tap.Point, File: t.file(tap.Point), SnapLen: tap.Snap, Frames: r.total[tap.Point], RoCE: len(r.seen[tap.Point])}
	var err error
	c.Captured, c.Dropped, err = tcpdumpSaid(r.text(tap.Point + ".tcpdump"))
	if c.Captured != c.Frames || c.Dropped > 0 {
		t.note("tap %s: tcpdump captured %d and lost %d, the file holds %d", tap.Point, c.Captured, c.Dropped, c.Frames)
	}
	return c, err
}

// kernelSaid reads the counters of the RDMA devices and of tc.
func (r *recording) kernelSaid(t *truth) (err error) {
	if t.RXE, err = r.rxe(); err != nil {
		return err
	}
	names, _ := filepath.Glob(filepath.Join(r.dir, "*.qdisc"))
	for _, name := range names {
		q, err := queues([]byte(r.text(filepath.Base(name))))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		t.Queues = append(t.Queues, q...)
	}
	names, _ = filepath.Glob(filepath.Join(r.dir, "*.filter"))
	for _, name := range names {
		base := filepath.Base(name)
		f, err := filters(strings.TrimSuffix(base, ".filter"), []byte(r.text(base)))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		t.Filters = append(t.Filters, f...)
	}
	return nil
}

// ways tells, of the uplinks that are tapped, which flow took which.
func (r *recording) ways() []way {
	if !r.scenario.Net.LeafSpine {
		return nil
	}
	count := map[way]int{}
	for tap, frames := range r.seen {
		if tap[0] != 'l' && tap[0] != 'p' {
			continue
		}
		for _, f := range frames {
			count[way{Tap: tap, Src: text(f.Src), Dst: text(f.Dst), Port: f.SrcPort}]++
		}
	}
	var out []way
	for w, n := range count {
		w.Frames = n
		out = append(out, w)
	}
	slices.SortFunc(out, func(a, b way) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return out
}

func nonempty(text string) []string {
	if text = strings.TrimSpace(text); text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// pairs reads lines of a name and a value.
func pairs(text string) map[string]string {
	out := map[string]string{}
	for _, line := range nonempty(text) {
		name, value, _ := strings.Cut(line, " ")
		out[name] = value
	}
	return out
}

func writeJSON(name string, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(v); err != nil {
		return err
	}
	return os.WriteFile(name, b.Bytes(), 0o644)
}
