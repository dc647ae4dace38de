package synth_test

import (
	"flag"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/pcaps/synth"
)

var (
	accuracy = flag.Int("accuracy", 300, "how many scenarios of each kind the accuracy test plays")
	first    = flag.Uint64("accuracy-seed", 1, "the seed of the first of them")
	tell     = flag.Bool("accuracy-tell", false, "print each difference")
)

// always are the columns that every capture shows exactly, whatever goes wrong.
var always = []string{
	"frames", "bytes", "request_frames", "request_bytes", "response_frames", "response_bytes", "data_frames", "acks",
	"naks_psn_sequence", "naks_invalid_request", "naks_remote_access", "naks_remote_operational", "rnr_naks",
	"ce_frames", "cnps", "mirror_duplicates", "icrc_good", "icrc_bad", "icrc_unchecked",
}

// fates are the columns that say what became of packets.
var fates = []string{
	"messages", "lost_upstream", "lost_downstream", "not_captured", "reordered",
	"retransmitted", "retransmitted_nak", "retransmitted_timeout", "retransmitted_rnr", "retransmitted_implied", "spurious",
	"response_lost_upstream", "response_lost_downstream", "response_not_captured", "response_reordered", "response_retransmitted",
}

// tally is how well a column or a rule does.
type tally struct{ cases, exact, right, wrong, left int64 }

func (t *tally) precision() float64 { return ratio(t.right, t.right+t.wrong) }
func (t *tally) recall() float64    { return ratio(t.right, t.right+t.left) }

func ratio(a, b int64) float64 {
	if b == 0 {
		return 1
	}
	return float64(a) / float64(b)
}

// scores are the tallies of one kind of scenario.
type scores struct {
	sync.Mutex
	columns map[string]*tally
	rules   map[string]*tally
	notes   []string
	packets int64
	paired  tally // right, wrong, left unknown
}

func newScores() *scores {
	return &scores{columns: map[string]*tally{}, rules: map[string]*tally{}}
}

func in(m map[string]*tally, name string) *tally {
	if m[name] == nil {
		m[name] = &tally{}
	}
	return m[name]
}

// kinds are the ways to draw a scenario.
var kinds = map[string]func(draw, uint64) *synth.Scenario{
	"healthy":  draw.healthy,
	"faulty":   draw.faulty,
	"mixed":    draw.mixed,
	"troubled": draw.troubled,

	"odd-healthy": draw.oddHealthy,
	"odd-faulty":  draw.oddFaulty,
}

// required is the precision and recall of each count and rule.
var required = map[string]float64{"healthy": 1, "faulty": 0.99, "mixed": 0.99, "troubled": 0.99, "odd-healthy": 1, "odd-faulty": 0.99}

// reached is what counts reach where that is less. Where senders number nothing, and the
// capture begins or pauses amid a repetition, nothing may tell why a single packet was
// sent that precedes all others, whether it came late or again, or whether two answers
// alike are one. The lowest are late packets and responses not captured, of which there
// are few: of those, one READ that a pause took makes up a tenth.
var reached = map[string]float64{"odd-healthy": 0.95, "odd-faulty": 0.92, "odd-faulty response_not_captured": 0.8}

// exactly is how many of the rows in which one thing went wrong have to be exact,
// count by count.
const exactly = 0.98

// TestAccuracy plays random scenarios and holds what the analysis says against
// what happened. A failure names the seed; -accuracy-seed plays it again, and
// -accuracy-write writes it to a file.
func TestAccuracy(t *testing.T) {
	for name, draw := range kinds {
		t.Run(name, func(t *testing.T) {
			n := *accuracy
			if odd(name) {
				n = (2*n + 2) / 3 // for time
			}
			sc := play(t, draw, n)
			t.Logf("%d scenarios from seed %d, %d packets\n%s", n, *first, sc.packets, sc.table())
			sc.check(t, name, n)
		})
	}
}

// odd reports whether captures of a kind are spoilt.
func odd(kind string) bool { return strings.HasPrefix(kind, "odd") }

// play runs n scenarios on all processors.
func play(t *testing.T, make func(draw, uint64) *synth.Scenario, n int) *scores {
	sc := newScores()
	seeds := ch(*first, n)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for seed := range seeds {
				s := make(newDraw(seed), seed)
				c := synth.Run(s)
				sc.score(seed, s, c, analyze(t, s, c))
			}
		})
	}
	wg.Wait()
	slices.Sort(sc.notes)
	return sc
}

func ch(first uint64, n int) <-chan uint64 {
	c := make(chan uint64, n)
	for i := range n {
		c <- first + uint64(i)
	}
	close(c)
	return c
}

func (sc *scores) note(format string, args ...any) {
	sc.notes = append(sc.notes, fmt.Sprintf(format, args...))
}

// score compares one report with its truth.
func (sc *scores) score(seed uint64, s *synth.Scenario, c *synth.Capture, r *report.Report) {
	sc.Lock()
	defer sc.Unlock()
	sc.packets += int64(len(c.Frames))
	flows, before := rowsByName(r), len(sc.notes)
	for i := range c.Truth.Rows {
		row := &c.Truth.Rows[i]
		name := rowName(row.Src, row.Dst, row.DestQP)
		sc.row(seed, name, row, flows[name])
	}
	sc.findings(seed, c, r)
	if len(sc.notes) > before && s.About != "" {
		sc.note("seed %d: its capture %s", seed, s.About)
	}
}

func (sc *scores) row(seed uint64, name string, row *synth.Row, flows []*report.Flow) {
	for _, column := range always {
		got, want := sum(flows, column), row.Counts[column]
		if slack := row.Opened("mirror_duplicates"); slack > 0 && column != "frames" && column != "bytes" && (strings.HasSuffix(column, "bytes") || max(got, want)-min(got, want) <= slack) {
			continue
		}
		if got == want {
			in(sc.columns, column).right += got
		} else {
			sc.note("seed %d: %s: %s is %d, want %d", seed, name, column, got, want)
			in(sc.columns, column).wrong += max(got, want) - min(got, want)
		}
	}
	for _, column := range fates {
		got, want, open := sum(flows, column), row.Counts[column], row.Opened(column)
		t := in(sc.columns, column)
		if got == 0 && want == 0 {
			continue
		}
		t.cases++
		over, under := max(0, got-want-open), max(0, want-got)
		if over == 0 && under == 0 {
			t.exact++
		} else {
			sc.note("seed %d: %s: %s is %d, want %d and at most %d more", seed, name, column, got, want, open)
		}
		t.right += min(got, want+open)
		t.wrong += over
		t.left += under
	}
	sc.pairing(seed, name, row, flows)
}

func sum(flows []*report.Flow, column string) int64 {
	n := int64(0)
	for _, f := range flows {
		n += count(f, column)
	}
	return n
}

// pairing judges the peers of rows that both directions of their connection are
// in the capture for.
func (sc *scores) pairing(seed uint64, name string, row *synth.Row, flows []*report.Flow) {
	for _, f := range flows {
		switch {
		case row.PeerQP == 0 || f.Transport != "RC":
		case f.PeerQP == nil && (!row.BothWays || row.Twin != 0):
			sc.paired.cases++ // nothing tells
		case f.PeerQP == nil:
			sc.paired.left++
			sc.note("seed %d: %s: its peer is %#x, and stays unknown (%d requests, %d responses)", seed, name, row.PeerQP, f.RequestFrames, f.ResponseFrames)
		case *f.PeerQP != row.PeerQP:
			sc.paired.wrong++
			sc.note("seed %d: %s: its peer is %#x, not %#x", seed, name, row.PeerQP, *f.PeerQP)
		default:
			sc.paired.right++
		}
	}
}

// findings judges the rules.
func (sc *scores) findings(seed uint64, c *synth.Capture, r *report.Report) {
	must, may := expected(c)
	found := map[string]bool{}
	for _, f := range r.Findings {
		if f.Severity.Rank() >= report.Info.Rank() || found[f.Rule] {
			continue
		}
		found[f.Rule] = true
		t := in(sc.rules, f.Rule)
		if must[f.Rule] || may[f.Rule] {
			t.right++
			continue
		}
		t.wrong++
		sc.note("seed %d: found %s: %s", seed, f.Rule, f.Summary)
	}
	for rule := range must {
		t := in(sc.rules, rule)
		t.cases++
		if found[rule] {
			t.exact++
		} else {
			t.left++
			sc.note("seed %d: did not find %s", seed, rule)
		}
	}
}

// table prints the tallies.
func (sc *scores) table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-26s %7s %7s %9s %7s\n", "count or rule", "cases", "exact", "precision", "recall")
	for _, m := range []map[string]*tally{sc.columns, sc.rules} {
		var names []string
		for name := range m {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			t := m[name]
			fmt.Fprintf(&b, "%-26s %7d %7d %9.4f %7.4f\n", name, t.cases, t.exact, t.precision(), t.recall())
		}
	}
	fmt.Fprintf(&b, "peers: %d right, %d wrong, %d unknown that could be known, %d not knowable\n", sc.paired.right, sc.paired.wrong, sc.paired.left, sc.paired.cases)
	return b.String()
}

// check fails where a count or a rule does not reach what is required in n scenarios. A
// rule may be wrong once in so many of them as the requirement leaves.
func (sc *scores) check(t *testing.T, kind string, n int) {
	t.Helper()
	for name, x := range sc.columns {
		least := required[kind]
		for _, of := range []string{kind, kind + " " + name} {
			if r, less := reached[of]; less {
				least = r
			}
		}
		few := int64(0) // of a rare count, two packets are more than one in a hundred
		if least < 1 {
			few = 2
		}
		if x.precision() < least && x.wrong > few || x.recall() < least && x.left > few {
			t.Errorf("%s: precision %.4f, recall %.4f, want %.3f", name, x.precision(), x.recall(), least)
		}
		if share := ratio(x.exact, x.cases); kind == "faulty" && share < exactly && x.cases-x.exact > few {
			t.Errorf("%s: %d of %d rows are exact, want %.2f of them", name, x.exact, x.cases, exactly)
		}
	}
	bear := (1 - required[kind]) * float64(n)
	miss, unknown := bear, int64(0)
	if odd(kind) { // a capture that pauses, or begins late, may hold too few answers to tell
		miss, unknown = 0.01*float64(n), sc.paired.right/500
	}
	for name, x := range sc.rules {
		if float64(x.wrong) > bear || float64(x.left) > miss {
			t.Errorf("%s: found %d times without reason, missed %d times", name, x.wrong, x.left)
		}
	}
	if sc.paired.wrong > 0 || sc.paired.left > unknown {
		t.Errorf("%d peers are wrong, %d unknown", sc.paired.wrong, sc.paired.left)
	}
	if t.Failed() || *tell {
		t.Log(strings.Join(sc.notes[:min(len(sc.notes), 400)], "\n"))
	}
}
