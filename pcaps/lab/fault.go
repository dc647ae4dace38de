package main

import (
	"fmt"
	"regexp"
	"strings"
)

// A fault is a disturbance at a port: lines of the guest's script.
type fault struct {
	At    hook
	Setup []string // before the traffic
	Live  []string // while it runs
}

// A phrase is a fault in words, and what tc calls it: $0 is the port, $1 what
// the first parenthesis holds.
type phrase struct {
	words *regexp.Regexp
	in    bool // it disturbs what comes into a port, not what leaves it
	setup []string
	live  string
}

const (
	share = `(\d+(?:\.\d+)?%)`
	span  = `(\d+(?:\.\d+)?m?s)`
	rate  = `(\d+[kmg]bit)`
	size  = `(\d+k?b)`

	seconds = `(\d+(?:\.\d+)?s)` // what sleep understands
)

func words(pattern string) *regexp.Regexp { return regexp.MustCompile("^" + pattern + "$") }

var phrases = []phrase{
	{words: words("drop every (\\d+)"), in: true, setup: []string{
		"hook $0:ingress",
		"change $0 tc filter add dev $0 ingress matchall action pass random determ drop $1",
	}},
	{words: words("rate " + rate + " queue " + size), setup: []string{
		"change $0 tc qdisc replace dev $0 root tbf rate $1 burst 5kb limit $2",
	}},
	{words: words("rate " + rate + " queue " + size + " mark from " + size + " to " + size), setup: []string{
		"change $0 tc qdisc replace dev $0 root handle 1: tbf rate $1 burst 5kb limit $2",
		"change $0 tc qdisc add dev $0 parent 1:1 handle 10: red limit $2 min $3 max $4 avpkt 1000 burst 20 probability 0.3 bandwidth $1 ecn",
	}},
	{words: words("blackout after " + seconds + " for " + seconds), setup: []string{
		"change $0 tc qdisc replace dev $0 root netem loss 0%",
	}, live: "(sleep $1; change $0 tc qdisc replace dev $0 root netem loss 100%; sleep $2; change $0 tc qdisc replace dev $0 root netem loss 0%) &"},
}

// netem are the phrases that one netem can do together.
var netem = []phrase{
	{words: words("loss " + share), setup: []string{"loss $1"}},
	{words: words("loss in bursts " + share + " ended " + share), setup: []string{"loss gemodel $1 $2 100% 0%"}},
	{words: words("mark " + share), setup: []string{"loss $1 ecn"}},
	{words: words("duplicate " + share), setup: []string{"duplicate $1"}},
	{words: words("corrupt " + share), setup: []string{"corrupt $1"}},
	{words: words("delay " + span), setup: []string{"delay $1"}},
	{words: words("delay " + span + " jitter " + span), setup: []string{"delay $1 $2"}},
	{words: words("delay " + span + " overtaken by " + share), setup: []string{"delay $1 reorder $2"}},
}

// addFault understands "PORT PHRASE" and, of what netem does, "PORT PHRASE,
// PHRASE".
func (s *scenario) addFault(w []string) error {
	if len(w) < 3 {
		return fmt.Errorf("say at which port, and what")
	}
	at, err := s.hook(w[1])
	if err != nil {
		return err
	}
	f, err := newFault(at, strings.Join(w[2:], " "))
	s.Faults = append(s.Faults, f)
	return err
}

func newFault(at hook, text string) (fault, error) {
	for _, p := range phrases {
		m := p.words.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		if p.in != at.In {
			return fault{}, fmt.Errorf("%q is not for this direction of a port", text)
		}
		return p.fault(at, m), nil
	}
	return netemFault(at, text)
}

func (p phrase) fault(at hook, match []string) fault {
	m := append([]string{at.Port}, match[1:]...)
	f := fault{At: at}
	for _, line := range p.setup {
		f.Setup = append(f.Setup, fill(line, m))
	}
	if p.live != "" {
		f.Live = []string{fill(p.live, m)}
	}
	return f
}

func netemFault(at hook, text string) (fault, error) {
	line := fmt.Sprintf("change %[1]s tc qdisc replace dev %[1]s root netem", at.Port)
	for part := range strings.SplitSeq(text, ", ") {
		what, ok := netemWords(part)
		if !ok {
			return fault{}, fmt.Errorf("%q is no fault", part)
		}
		line += " " + what
	}
	if at.In {
		return fault{}, fmt.Errorf("%q is only for what leaves a port", text)
	}
	return fault{At: at, Setup: []string{line}}, nil
}

func netemWords(text string) (string, bool) {
	for _, p := range netem {
		if m := p.words.FindStringSubmatch(text); m != nil {
			return fill(p.setup[0], m), true
		}
	}
	return "", false
}

// fill puts words where $0, $1 and so on stand.
func fill(line string, words []string) string {
	for i, w := range words {
		line = strings.ReplaceAll(line, fmt.Sprintf("$%d", i), w)
	}
	return line
}
