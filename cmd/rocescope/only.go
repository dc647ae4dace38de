package main

import (
	"path"
	"slices"
	"strings"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// only says which frames are wanted: those that fit any of its parts. Without
// any it wants all.
type only struct {
	kinds []func(*decode.Packet) bool
	flag  [analysis.NumEventKinds]bool
	rules []string // patterns
	found map[uint64]bool
}

// flagPrefix is what the names of flags begin with where they are fields.
const flagPrefix = "roce.analysis."

// kinds are the words for frames of one kind.
var kinds = []struct {
	name string
	is   func(*decode.Packet) bool
}{
	{"roce", func(p *decode.Packet) bool { return p.Status == decode.RoCE }},
	{"send", opcodeOf(ib.IsSend)},
	{"write", opcodeOf(ib.IsWrite)},
	{"read", opcodeOf(ib.IsRead | ib.IsReadResponse)},
	{"atomic", opcodeOf(ib.IsAtomic | ib.IsAtomicAck)},
	{"ack", opcodeOf(ib.IsAck)},
	{"cm", func(p *decode.Packet) bool { return p.Status == decode.RoCE && p.QP == 1 }},
	{"pfc", statusOf(decode.PFC)},
	{"pause", statusOf(decode.Pause)},
	{"uet", statusOf(decode.UET)},
	{"lldp", statusOf(decode.LLDP)},
	{"iwarp", statusOf(decode.IWARP)},
	{"rocev15", statusOf(decode.RoCEv15)},
	{"unusual", func(p *decode.Packet) bool { return p.Odd != 0 }},
	{"wrapped", func(p *decode.Packet) bool { return p.Encap != 0 }},
	{"fragment", statusOf(decode.Fragment)},
	{"malformed", statusOf(decode.Malformed)},
	{"truncated", statusOf(decode.Truncated)},
	{"other", statusOf(decode.Other)},
}

func opcodeOf(k ib.Kind) func(*decode.Packet) bool {
	return func(p *decode.Packet) bool { return p.Status == decode.RoCE && p.Op.Is(k) }
}

func statusOf(s decode.Status) func(*decode.Packet) bool {
	return func(p *decode.Packet) bool { return p.Status == s }
}

func kindNames() []string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// flagNames are the names of all flags, in order.
func flagNames() []string {
	var names []string
	for k := range analysis.NumEventKinds {
		if kind := analysis.EventKind(k); !kind.Measure() {
			names = append(names, kind.String())
		}
	}
	slices.Sort(names)
	return names
}

// parseOnly reads the words of --only.
func parseOnly(words []string) (*only, error) {
	o := &only{found: map[uint64]bool{}}
	for _, word := range words {
		w := strings.TrimPrefix(strings.ToLower(strings.TrimSpace(word)), flagPrefix)
		if _, err := path.Match(w, ""); err != nil || w == "" {
			return nil, usage("a * stands for anything", "%q is no word for --only", word)
		}
		if strings.Contains(w, ".") {
			o.rules = append(o.rules, w)
		} else if !o.add(w) {
			return nil, usage("the kinds are "+strings.Join(kindNames(), ", ")+"; the flags are "+strings.Join(flagNames(), ", "),
				"%q is neither a flag, nor a kind of frame, nor a rule", word)
		}
	}
	return o, nil
}

// add adds a flag or a kind of frame. It reports false where nothing has that name.
func (o *only) add(pattern string) (any bool) {
	for _, k := range kinds {
		if ok, _ := path.Match(pattern, k.name); ok {
			o.kinds, any = append(o.kinds, k.is), true
		}
	}
	for _, name := range flagNames() {
		if ok, _ := path.Match(pattern, name); ok {
			o.flag[kindOf(name)], any = true, true
		}
	}
	return any
}

func kindOf(name string) analysis.EventKind {
	k := analysis.EventKind(0)
	for k.String() != name {
		k++
	}
	return k
}

// flags reports whether flags decide on what is wanted.
func (o *only) flags() bool { return slices.Contains(o.flag[:], true) }

// take learns the evidence of findings, and returns the rules that none fits.
func (o *only) take(findings []report.Finding) (unmet []string) {
	for _, rule := range o.rules {
		met := false
		for _, f := range findings {
			if ok, _ := path.Match(rule, f.Rule); !ok {
				continue
			}
			met = true
			for _, n := range f.Frames {
				o.found[n] = true
			}
		}
		if !met {
			unmet = append(unmet, rule)
		}
	}
	return unmet
}

// fits reports whether a frame is wanted.
func (o *only) fits(l *line) bool {
	if len(o.kinds)+len(o.rules) == 0 && !o.flags() || o.found[l.packet.Frame] {
		return true
	}
	for _, is := range o.kinds {
		if is(&l.packet) {
			return true
		}
	}
	return slices.ContainsFunc(l.flags, func(f flagged) bool { return o.flag[f.Kind] })
}
