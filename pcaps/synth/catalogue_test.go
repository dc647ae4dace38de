package synth_test

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/pcaps/synth"
)

// played is what a scenario gave, for those who ask whether it shows what it
// says.
type played struct {
	*synth.Capture
	scenario *synth.Scenario
}

// total adds up a column over all rows of the truth.
func (p *played) total(column string) (n int64) {
	for _, r := range p.Truth.Rows {
		n += r.Counts[column]
	}
	return n
}

// has reports whether there is something in each of some columns, and lacks
// whether there is nothing in any.
func (p *played) has(columns ...string) bool {
	return !slices.ContainsFunc(columns, func(c string) bool { return p.total(c) == 0 })
}

func (p *played) lacks(columns ...string) bool {
	return !slices.ContainsFunc(columns, func(c string) bool { return p.total(c) != 0 })
}

// healthy reports whether nothing was lost, sent again or refused.
func (p *played) healthy() bool {
	return p.Truth.PauseFrames == 0 && p.lacks("gaps", "lost_downstream", "retransmitted", "reordered", "naks_psn_sequence",
		"response_gaps", "response_retransmitted", "mirror_duplicates", "icrc_bad", "rnr_naks")
}

// at plays the scenario again with another tap, and further changes.
func (p *played) at(tap synth.Tap, change ...func(*synth.Scenario)) *played {
	s := *p.scenario
	s.Tap, s.MoreTaps = tap, nil
	for _, do := range change {
		do(&s)
	}
	return &played{synth.Run(&s), &s}
}

// spine is the link from leaf 1 to a spine.
func spine(name string) synth.Tap { return synth.AtLink("leaf1", name).OneWay() }

// spread is how many of four spines carry data of leaf 1.
func (p *played) spread() (n int) {
	for _, name := range []string{"spine1", "spine2", "spine3", "spine4"} {
		if p.at(spine(name)).has("data_frames") {
			n++
		}
	}
	return n
}

// rates are the bytes that a host sent in each 50 us.
func (p *played) rates(src byte) []int {
	var out []int
	for _, f := range p.Frames {
		if f.Data[29] != src || len(f.Data) < 500 {
			continue
		}
		for n := int(f.Time-p.Frames[0].Time) / 50_000; len(out) <= n; {
			out = append(out, 0)
		}
		out[len(out)-1] += len(f.Data)
	}
	return out[:len(out)-1] // the last one ends early
}

// slowed reports whether a host's rate fell to less than half, and rose again.
func (p *played) slowed(src byte) bool {
	r := p.rates(src)
	low := slices.Index(r, slices.Min(r))
	return 2*r[low] < slices.Max(r[:low+1]) && 2*slices.Max(r[low:]) > 3*r[low]
}

// row returns a column of what goes from one host to another queue pair.
func (p *played) row(src string, qp uint32, column string) int64 {
	for _, r := range p.Truth.Rows {
		if r.Src == src && r.DestQP == qp {
			return r.Counts[column]
		}
	}
	return 0
}

// longestPause is how long, at most, pauses followed each other without one
// that lifts them.
func (p *played) longestPause() (longest time.Duration) {
	var since int64
	for _, f := range p.Frames {
		quanta := 0
		if f.Data[12] == 0x88 && f.Data[13] == 0x08 {
			quanta = int(f.Data[24])<<8 | int(f.Data[25]) // of priority 3
		} else {
			continue
		}
		switch {
		case quanta == 0:
			since = 0
		case since == 0:
			since = f.Time
		default:
			longest = max(longest, time.Duration(f.Time-since))
		}
	}
	return longest
}

// said adds up messages of connection management, by the column they count in.
func (p *played) said(column string) (n int64) {
	for _, e := range p.Truth.Connections {
		n += e.Counts[column]
	}
	return n
}

// attempts is how many connections a host asked for.
func (p *played) attempts(host int) (n int) {
	for _, e := range p.Truth.Connections {
		if e.Client == fmt.Sprintf("10.0.0.%d", host) {
			n++
		}
	}
	return n
}

// lost is how many frames of a kind did not arrive, in the capture or not.
func (p *played) lost(what string, captured bool) (n int64) {
	for _, l := range p.Truth.Lost {
		if l.What == what && captured {
			n += l.Captured
		} else if l.What == what {
			n += l.Frames - l.Captured
		}
	}
	return n
}

// claims say of each scenario what must be true for it to show what it says.
// The samples have theirs in TestSamplesHaveWhatTheyShow.
var claims = map[string]func(p *played) bool{
	"nccl-ring":       func(p *played) bool { return p.healthy() && p.spread() > 1 },
	"nccl-all-to-all": func(p *played) bool { return p.healthy() && p.spread() > 1 },
	"fast-400g": func(p *played) bool {
		span := p.Frames[len(p.Frames)-1].Time - p.Frames[0].Time
		return p.healthy() && 8*p.total("bytes")/span > 300
	},
	"storage-mix": func(p *played) bool { return p.healthy() && p.has("acks", "messages") },
	"light-marks": func(p *played) bool {
		return p.healthy() && p.has("cnps") && 100*p.total("ce_frames") < p.total("data_frames")
	},

	"dcqcn-incast":     func(p *played) bool { return p.healthy() && p.has("ce_frames", "cnps") && p.slowed(1) },
	"incast-tail-drop": func(p *played) bool { return p.has("lost_downstream", "retransmitted_nak") && p.lacks("lost_upstream") },
	"cnp-ignored": func(p *played) bool {
		return p.row("10.0.0.4", 0x210, "cnps") > 0 && !p.slowed(2) && p.slowed(1) && p.slowed(3)
	},
	"not-ect": func(p *played) bool {
		return p.has("cnps", "lost_upstream") && p.row("10.0.0.3", 0x412, "ce_frames") == 0 && p.row("10.0.0.1", 0x410, "ce_frames") > 0
	},
	"oversubscribed-uplink": func(p *played) bool {
		return p.has("cnps") && p.at(synth.AtHost(5)).has("ce_frames") && p.at(synth.AtHost(1).OneWay()).lacks("ce_frames")
	},
	"straggler": (*played).healthy,

	"pfc-slow-receiver": func(p *played) bool { return p.Truth.PauseFrames > 0 && p.lacks("retransmitted") },
	"pfc-upstream": func(p *played) bool {
		return p.Truth.PauseFrames > 0 && p.at(spine("spine1")).Truth.PauseFrames == 0 && p.at(synth.AtHost(1)).Truth.PauseFrames > 0
	},
	"pfc-victim": func(p *played) bool {
		quiet := p.at(p.scenario.Tap, func(s *synth.Scenario) { s.Connections = s.Connections[len(s.Connections)-1:] })
		return p.Truth.PauseFrames > 0 && p.at(synth.AtHost(8)).Truth.PauseFrames == 0 && quiet.Truth.PauseFrames == 0
	},
	"pause-global": func(p *played) bool {
		return p.Truth.PauseFrames > 0 && slices.ContainsFunc(p.Frames, func(f decode.Frame) bool { return bytes.Equal(f.Data[12:16], []byte{0x88, 8, 0, 1}) })
	},
	"pfc-storm": func(p *played) bool { return p.longestPause() > 200*time.Millisecond && p.lacks("retransmitted") },

	"ecmp-collision":     func(p *played) bool { return p.healthy() && p.spread() == 1 && p.has("data_frames") },
	"one-port-ecmp":      func(p *played) bool { return p.healthy() && p.spread() == 1 },
	"hash-by-queue-pair": func(p *played) bool { return p.healthy() && p.spread() == 4 },
	"flowlets":           func(p *played) bool { return p.healthy() && p.spread() > 1 },
	"spraying":           func(p *played) bool { return p.spread() == 4 && p.has("reordered") && p.lacks("retransmitted") },
	"spraying-naks": func(p *played) bool {
		return p.has("naks_psn_sequence", "spurious") && p.lacks("lost_upstream", "lost_downstream")
	},
	"slow-uplink": func(p *played) bool { return p.healthy() && p.at(spine("spine2")).has("data_frames") },

	"bad-cable":         func(p *played) bool { return p.has("lost_downstream") && p.lacks("icrc_bad", "lost_upstream") },
	"bad-cable-reads":   func(p *played) bool { return p.has("response_lost_upstream", "retransmitted_implied") },
	"damaged-memory":    func(p *played) bool { return p.has("icrc_bad", "lost_downstream") },
	"retries-exhausted": func(p *played) bool { return p.row("10.0.0.2", 0x111, "frames") == 0 && p.has("retransmitted_timeout") },
	"reads-unanswered":  func(p *played) bool { return p.row("10.0.0.2", 0x111, "frames") == 0 && p.has("retransmitted_timeout") },

	"mtu-blackhole": func(p *played) bool {
		return p.row("10.0.0.2", 0x114, "acks") == 3 && p.row("10.0.0.1", 0x214, "retransmitted_timeout") > 0 && p.row("10.0.0.1", 0x213, "retransmitted") == 0
	},
	"mtu-mismatch": func(p *played) bool { return p.total("naks_invalid_request") == 1 },
	"class-outlier": func(p *played) bool {
		return p.row("10.0.0.1", 0x414, "lost_downstream") > 0 && p.total("lost_downstream") == p.row("10.0.0.1", 0x414, "lost_downstream")
	},
	"class-one-way": func(p *played) bool {
		return p.has("lost_downstream") && p.row("10.0.0.1", 0x410, "lost_downstream")+p.row("10.0.0.1", 0x510, "lost_downstream") == 0
	},
	"pfc-before-ecn": func(p *played) bool { return p.Truth.PauseFrames > 0 && p.lacks("ce_frames", "retransmitted") },

	"selective-repeat": func(p *played) bool {
		return p.has("lost_downstream") && p.total("retransmitted") <= p.total("lost_downstream")+2
	},
	"adaptive-timeouts": func(p *played) bool { return p.has("retransmitted_timeout") && p.lacks("retransmitted_nak") },
	"lost-acks": func(p *played) bool {
		return p.has("retransmitted_timeout") && p.lacks("lost_downstream", "lost_upstream")
	},
	"tail-loss":      func(p *played) bool { return p.has("retransmitted_timeout") && p.lacks("naks_psn_sequence") },
	"coalesced-acks": func(p *played) bool { return p.has("lost_downstream") && p.total("acks") < p.total("messages") },

	"rnr-codes": func(p *played) bool { return p.total("rnr_naks") == 18 },
	"uc-ud-drops": func(p *played) bool {
		return p.row("10.0.0.1", 0x410, "gaps") > 0 && p.row("10.0.0.2", 0x411, "gaps") > 0
	},
	"refusals": func(p *played) bool {
		return p.has("naks_invalid_request", "naks_remote_access", "naks_remote_operational")
	},
	"mixed-faults": func(p *played) bool {
		return p.has("lost_upstream", "lost_downstream", "reordered", "response_lost_upstream", "icrc_bad", "not_captured", "rnr_naks")
	},

	"rnr-exhausted": func(p *played) bool {
		return p.total("rnr_naks") == 11 && p.attempts(1) == 4 && p.lacks("lost_downstream")
	},
	"rnr-exhausted-silent": func(p *played) bool { return p.total("rnr_naks") == 12 && len(p.Truth.Connections) == 0 },
	"pcp-wrong": func(p *played) bool {
		return p.row("10.0.0.2", 0x411, "lost_downstream") > 0 && p.total("lost_downstream") == p.row("10.0.0.2", 0x411, "lost_downstream")+p.row("10.0.0.2", 0x414, "lost_downstream")
	},
	"dscp-wrong": func(p *played) bool { return p.lacks("lost_downstream", "retransmitted") },

	"cm-rejected": func(p *played) bool {
		return p.said("rejects_of_server") == 3 && p.said("ready_to_use") == 3 && p.Truth.Connections[5].Reason == 8
	},
	"cm-rejected-first": func(p *played) bool {
		return p.said("rejects_of_server") == 2 && p.Truth.Connections[0].Reason == 28 && p.attempts(1) == 6
	},
	"cm-declined": func(p *played) bool {
		return p.said("rejects_of_client") == 5 && p.said("replies") == 7 && p.said("ready_to_use") == 2 && p.said("disconnect_requests") == 2
	},
	"cm-unanswered": func(p *played) bool { return p.said("requests") == 3+2*16 && p.has("acks") },
	"cm-withdrawn": func(p *played) bool {
		return p.said("requests") == 3*3+3 && p.said("rejects_of_client") == 3 && p.Truth.Connections[0].Reason == 4
	},
	"cm-late-reply":    func(p *played) bool { return p.said("delays") == 3 && p.said("ready_to_use") == 6 },
	"cm-lost-messages": func(p *played) bool { return p.said("ready_to_use") == 6 && p.said("requests") == 8 && p.healthy() },

	"cnps-off": func(p *played) bool {
		return p.lacks("cnps") && p.at(synth.AtHost(5)).has("cnps") && !p.slowed(1)
	},
	"cnps-off-everywhere": func(p *played) bool { return p.lacks("cnps") && p.has("ce_frames") },
	"cnps-lost":           func(p *played) bool { return p.has("cnps") && p.lost("CNP", true) == p.total("cnps") && !p.slowed(1) },
	"cnps-lost-before":    func(p *played) bool { return p.lacks("cnps") && p.lost("CNP", false) > 0 && p.has("ce_frames") },
	"cnps-lost-all-taps":  func(p *played) bool { return p.lost("CNP", true) == p.total("cnps") && !p.slowed(1) },
	"xoff-lost":           func(p *played) bool { return p.lost("XOFF", true) > 0 && p.has("lost_upstream") },
	"xon-lost": func(p *played) bool {
		return p.lost("XON", true) > 5 && p.lost("XOFF", true) == 0 && p.lacks("lost_upstream")
	},

	"lossy-mirror": func(p *played) bool { return p.has("not_captured", "mirror_duplicates") && p.lacks("retransmitted") },
	"one-way-tap": func(p *played) bool {
		return p.has("retransmitted") && !slices.ContainsFunc(p.Frames, func(f decode.Frame) bool { return f.Data[29] != 1 })
	},
	"midstream-wrap": func(p *played) bool { return p.healthy() && p.Frames[0].Time%1e9 >= 200_000 && wraps(p) },
	"jittery-clock":  func(p *played) bool { return p.healthy() && shuffled(p) },
	"two-taps": func(p *played) bool {
		other := &played{p.More[0], p.scenario}
		return p.has("lost_downstream") && p.lacks("lost_upstream") && other.has("lost_upstream") && other.lacks("lost_downstream")
	},
	"constant-ids": func(p *played) bool {
		return p.has("reordered", "lost_upstream") && !slices.ContainsFunc(p.Frames, func(f decode.Frame) bool { return f.Data[18] != 0 || f.Data[19] != 0 })
	},
	"snapped": func(p *played) bool { return p.has("lost_downstream", "icrc_unchecked") },
}

// wraps reports whether a queue pair gets a low PSN behind a high one.
func wraps(p *played) bool {
	high := map[string]bool{}
	for _, f := range p.Frames {
		qp, psn := string(f.Data[47:50]), f.Data[51]
		if psn < 0x80 && high[qp] {
			return true
		}
		high[qp] = high[qp] || psn >= 0x80
	}
	return false
}

// shuffled reports whether the frames lie in another order than on the wire.
func shuffled(p *played) bool {
	wire := p.at(synth.AtHost(2))
	return !slices.EqualFunc(p.Frames, wire.Frames, func(a, b decode.Frame) bool { return bytes.Equal(a.Data, b.Data) })
}

// eachScenario runs a test on every scenario.
func eachScenario(t *testing.T, test func(*testing.T, *synth.Scenario)) {
	for _, s := range synth.Scenarios() {
		t.Run(s.Name, func(t *testing.T) { test(t, s) })
	}
}

var kebab = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func TestScenariosAreNamedAndDescribed(t *testing.T) {
	names, abouts, seeds := map[string]bool{}, map[string]bool{}, map[uint64]bool{}
	for _, s := range synth.Scenarios() {
		if !kebab.MatchString(s.Name) || names[s.Name] || seeds[s.Seed] {
			t.Errorf("%q, seed %d: a name is in kebab case, and both are there once", s.Name, s.Seed)
		}
		if n := len(s.About); n == 0 || n >= 90 || strings.ContainsAny(s.About, ".\n") || abouts[s.About] {
			t.Errorf("%s: %q is no short sentence without a period, or is there twice", s.Name, s.About)
		}
		names[s.Name], abouts[s.About], seeds[s.Seed] = true, true, true
	}
}

func TestScenariosShowWhatTheySay(t *testing.T) {
	samples := map[string]bool{} // which their texts and golden reports speak for
	for _, s := range synth.Samples() {
		samples[s.Name] = true
	}
	made := 0
	for _, s := range synth.Scenarios() {
		claim := claims[s.Name]
		if claim == nil && samples[s.Name] {
			continue
		}
		made++
		t.Run(s.Name, func(t *testing.T) {
			if claim == nil {
				t.Fatal("no claim says what it must show")
			}
			if !claim(&played{synth.Run(s), s}) {
				t.Errorf("it does not show that %s", s.About)
			}
		})
	}
	if made != len(claims) {
		t.Errorf("there are %d claims for %d scenarios", len(claims), made)
	}
}

func TestScenariosAreShort(t *testing.T) {
	eachScenario(t, func(t *testing.T, s *synth.Scenario) {
		n := len(synth.Run(s).Frames)
		if n < 50 || n > 20_000 {
			t.Errorf("it has %d frames", n)
		}
	})
}

func TestScenariosAreDeterministic(t *testing.T) {
	again := synth.Scenarios()
	i := 0
	eachScenario(t, func(t *testing.T, s *synth.Scenario) {
		if !bytes.Equal(bytesOf(t, s), bytesOf(t, again[i])) {
			t.Error("two runs differ")
		}
		i++
	})
}

// bytesOf returns all that is written of a scenario.
func bytesOf(t *testing.T, s *synth.Scenario) []byte {
	t.Helper()
	var b bytes.Buffer
	c := synth.Run(s)
	for _, x := range append([]*synth.Capture{c}, c.More...) {
		if err := x.Write(&b); err != nil {
			t.Fatal(err)
		}
		if err := x.Truth.Write(&b); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}
