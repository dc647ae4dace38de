package synth_test

import (
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rocescope/rocescope/decode/capture"
	"github.com/rocescope/rocescope/decode/ib"
	"github.com/rocescope/rocescope/pcaps/synth"
)

// The rules of the wire must hold for the simulator as they do for the kernel's
// own RoCE, Soft-RoCE: both are held against the same.

const recordings = "../../../shared/captures/softroce"

func TestRecordingsObeyTheRules(t *testing.T) {
	files, _ := filepath.Glob(recordings + "/*.pcap")
	if len(files) == 0 {
		t.Skip("the Soft-RoCE recordings are not in " + recordings)
	}
	h := holder{map[int]bool{}, map[int]bool{}}
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) { h.hold(t, name, opened(t, file, tapOf(name))) })
	}
	h.finish(t)
}

func TestSampleFilesObeyTheRules(t *testing.T) {
	taps := map[string]byte{}
	for _, s := range synth.Samples() {
		taps[s.Name] = hostOf(s.Tap)
	}
	files, _ := filepath.Glob("../*.pcap*")
	h := holder{map[int]bool{}, map[int]bool{}}
	for _, file := range files {
		name := filepath.Base(file)
		sample, _, _ := strings.Cut(name, ".")
		t.Run(name, func(t *testing.T) { h.hold(t, name, opened(t, file, taps[sample])) })
	}
	h.finish(t)
}

func TestSimulationsObeyTheRules(t *testing.T) {
	h := holder{map[int]bool{}, map[int]bool{}}
	for _, s := range append(synth.Samples(), trials()...) {
		t.Run(s.Name, func(t *testing.T) {
			h.hold(t, s.Name, newWire(t, hostOf(s.Tap), &source{frames: synth.Run(s).Frames}))
		})
	}
	h.finish(t)
}

// holder holds captures against the rules. It knows which exceptions were met
// and which were needed.
type holder struct{ met, needed map[int]bool }

func (h *holder) hold(t *testing.T, name string, w *wire) {
	if copied.MatchString(name) {
		w = w.withoutCopies()
	}
	for _, r := range wireRules {
		broken := r.broken(w)
		if i := exceptionOf(name, r.name); i >= 0 {
			h.met[i] = true
			h.needed[i] = h.needed[i] || len(broken) > 0
			t.Logf("free of %q: %s", r.name, exceptions[i].why)
			continue
		}
		for _, f := range broken {
			t.Errorf("%s: %s", r.name, f)
		}
	}
}

// finish tells of exceptions that nothing needs any more.
func (h *holder) finish(t *testing.T) {
	for i, e := range exceptions {
		if h.met[i] && !h.needed[i] {
			t.Errorf("%v obeys %q: the exception is to go", e.captures, e.rules)
		}
	}
}

// copied names the captures in which a mirror put every packet twice.
var copied = regexp.MustCompile(`^(span_double\.span|capture-duplicated)`)

// exceptions are the rules that do not hold from where a capture was taken, and
// why.
var exceptions = []struct {
	captures *regexp.Regexp
	rules    []string
	why      string
}{
	{regexp.MustCompile(`^corrupt\.h2|^tagged_corrupt_resp\.h1|^lab-corrupt`), []string{"the ICRC is good"},
		"the network flips bits before this tap"},
	{regexp.MustCompile(`^loss_pre\.h1`), []string{"a pass has no gap"},
		"the packets are lost in the sender's own queue, which lies before the tap"},
	{regexp.MustCompile(`^duplicate\.h1`), []string{"an ACK is asked for"},
		"the network doubles requests behind this tap, and answers before it"},
	{regexp.MustCompile(`^midstream|^lab-mid-stream`), []string{"the MSN counts messages"},
		"messages ended before the capture began"},
	{regexp.MustCompile(`^lab-nvme`), []string{"connection management tells the truth"},
		"128 bytes do not hold what a REQ says"},
	{regexp.MustCompile(`^lab-loss-two-taps`), []string{"a gap draws one NAK"},
		"two taps saw each NAK"},
	{regexp.MustCompile(`^lab-(mirror-lossy|collector-erspan)`), []string{"the MSN counts messages", "only what was sent is acknowledged", "an ACK is asked for", "a response is what a READ asked for"},
		"the mirror lost requests that the network delivered, READs among them"},
	{regexp.MustCompile(`^span_lossy\.span`), []string{"the MSN counts messages", "only what was sent is acknowledged", "an ACK is asked for"},
		"the mirror lost requests that the network delivered"},
	{regexp.MustCompile(`\.s64\.`), []string{"the MSN counts messages", "only what was sent is acknowledged", "a WRITE has the length it announced", "a response is what a READ asked for", "a pass has no gap"},
		"64 bytes hold no RETH, so that the lengths of READs and WRITEs are not known"},
	{regexp.MustCompile(`^err_inv_bad_rkey`), []string{"the MSN counts messages"},
		"the kernel acknowledges a SEND whose key it cannot invalidate, and does not count it"},
	{regexp.MustCompile(`^err_peer_`), []string{"what comes again is acknowledged again"},
		"the responder is gone, without a word"},
	{regexp.MustCompile(`^reorder($|\.pcapng)`), []string{"what comes again is acknowledged again", "every gap is told"},
		"the adapter of this sample takes packets in any order: what comes late came not again, and a gap is none"},
	{regexp.MustCompile(`^trial: requests lost before`), []string{"a pass has no gap", "a refused request is repeated later"},
		"as with loss_pre: the packets are lost before the tap, and what comes again may be, too"},
	{regexp.MustCompile(`^trial: (all|requests) lost behind, at the receiver`), []string{"what comes again is acknowledged again", "every gap is told"},
		"the requests are lost between this tap and the responder"},
	{regexp.MustCompile(`^trial: acknowledgements lost, at the receiver`), []string{"what comes again is acknowledged again"},
		"the acknowledgements are lost between the responder and this tap"},
	{regexp.MustCompile(`^trial: responses lost before, at the receiver`), []string{"responses follow each other"},
		"the responses are lost between the responder and this tap"},
}

// exceptionOf returns the row that frees a capture of a rule, or -1.
func exceptionOf(capture, rule string) int {
	for i, e := range exceptions {
		if e.captures.MatchString(capture) && slices.Contains(e.rules, rule) {
			return i
		}
	}
	return -1
}

// trials are scenarios that go beyond the samples: chance strikes everywhere,
// and is looked at from every side.
func trials() (out []*synth.Scenario) {
	requests, responses := synth.Requests(0).ByChance(0.05), synth.ReadResponses(0).ByChance(0.05)
	for tap, at := range map[string]synth.Tap{"sender": synth.AtHost(1), "receiver": synth.AtHost(2), "middle": {}} {
		for what, conns := range map[string]func(*synth.Connection){
			"refused":           func(c *synth.Connection) { c.Refused, c.Refusal = 7, ib.NAKRemoteAccess },
			"refused both ways": func(c *synth.Connection) { c.Refused, c.Refusal, c.Back = 7, ib.NAKInvalidRequest, c.Work },
			"not ready":         func(c *synth.Connection) { c.NotReady, c.RNRTimer = []int{2, 9, 10}, 5 },
			"managed":           func(c *synth.Connection) { c.ByCM, c.Back = true, c.Work },
		} {
			s := trial(at)
			conns(&s.Connections[0])
			out = append(out, namedTrial(s, what, tap))
		}
		for what, faults := range map[string][]synth.Fault{
			"requests lost behind":  {synth.Lose(requests).AfterTap()},
			"requests lost before":  {synth.Lose(requests)},
			"responses lost behind": {synth.Lose(responses).AfterTap()},
			"responses lost before": {synth.Lose(responses)},
			"acknowledgements lost": {synth.Lose(synth.Acks(0).ByChance(0.3))},
			"all lost behind":       {synth.Lose(requests).AfterTap(), synth.Lose(responses).AfterTap(), synth.Lose(synth.Acks(1).ByChance(0.3)).AfterTap()},
			"everything marked":     {synth.Mark(synth.Everything())},
		} {
			for seed := range uint64(6) {
				s := trial(at, faults...)
				s.Seed = seed
				s.Connections[0].Back = s.Connections[0].Work
				s.Connections[1].NotReady, s.Connections[1].RNRTimer = []int{2, 9, 10}, 5
				out = append(out, namedTrial(s, what, tap))
			}
		}
	}
	return out
}

func namedTrial(s *synth.Scenario, what, tap string) *synth.Scenario {
	s.Name = fmt.Sprintf("trial: %s, at the %s, %d", what, tap, s.Seed)
	return s
}

// trial has every kind of message.
func trial(tap synth.Tap, faults ...synth.Fault) *synth.Scenario {
	const us = time.Microsecond
	work := []synth.Work{
		synth.Write(1500).Times(12).Every(30 * us), synth.Read(900).Times(12).Every(40 * us),
		synth.Send(3000).Times(8).Every(35 * us), synth.FetchAdd().Times(6).Every(50 * us),
	}
	return &synth.Scenario{Tap: tap, Faults: faults, Connections: []synth.Connection{
		{From: 1, To: 2, AckTimeout: 8, Work: work},
		{From: 1, To: 2, AckTimeout: 8, Work: work},
		{From: 1, To: 2, Transport: ib.UC, Work: []synth.Work{synth.Write(1500).Times(9)}},
		{From: 1, To: 2, Transport: ib.UD, Work: []synth.Work{synth.Send(200).Times(9)}},
	}}
}

func opened(t *testing.T, file string, tap byte) *wire {
	t.Helper()
	f, err := capture.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return newWire(t, tap, f)
}

var tapName = regexp.MustCompile(`\.(h(\d)|client|server)\.`)

// tapOf tells from the name of a recording on whose link it was taken. With two
// machines the client is the second.
func tapOf(name string) byte {
	m := tapName.FindStringSubmatch(name)
	switch {
	case m == nil:
		return 0
	case m[2] != "":
		return m[2][0] - '0'
	case m[1] == "client":
		return 2
	}
	return 1
}

// hostOf returns the host of a tap.
func hostOf(tap synth.Tap) byte {
	for n := range byte(10) {
		if reflect.DeepEqual(tap, synth.AtHost(int(n))) {
			return n
		}
	}
	return 0
}
