package analysis

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// A script tells, in words, what passed the tap between two hosts A and B:
//
//	A: 0-2 (3) 4! B: nak:3 A: 3-4! B: ack:4
//
// "A:" and "B:" say who speaks; "A2:" and "B2:" speak for a second pair of
// queue pairs. Each packet takes 1 µs and each change of speaker 9 µs more, so
// that an answer comes 10 µs behind its request; "+50" waits 50 µs longer.
//
//	3  3-5       SENDs of one packet; 3! asks for an ACK, 3~ has a bad ICRC
//	first: mid: last: wonly:   parts of a WRITE, 1024 bytes each
//	read:0x3     a READ of three packets; read:0x? one whose length was cut off
//	atomic:3  flush:3  awrite:3
//	ack: nak: rnr: fatal: aack: resp:   answers; resp:0-2 is First, Middle, Last
//	rfirst: rmid: rlast: ronly:         single READ responses
//	ack:3m7      an ACK that counts seven messages, not one for each PSN
//	cnp:0        a congestion notification, whose PSN is always 0
//	(3)          was sent and passed the tap unseen, or not yet
//	late:3       what was sent as (3) passes now; late:3! what was sent as (3!)
//	=            the packet before once more, a copy
//
// PSNs count from the start of the requester.
type script struct {
	ids    idMode
	start  ib.PSN
	starts map[string]ib.PSN // of speakers that start elsewhere
	tr     ib.Transport
	port   func(a, b uint32) uint16
	cms    []CMAt

	now     int64
	who     string
	sent    map[byte]uint16          // IDs used so far, by host
	hidden  map[string]decode.Packet // sent and not seen, by speaker and token
	packets []decode.Packet
}

// idMode says how a sender numbers its packets.
type idMode string

const (
	rising    idMode = "rising IDs"
	adjoining idMode = "adjoining IDs" // it sends nowhere else
	scattered idMode = "scattered IDs"
	constant  idMode = "constant IDs"
	overIPv6  idMode = "IPv6"
)

var allIDs = []idMode{rising, scattered, constant, overIPv6}

func newScript(ids idMode, start ib.PSN) *script {
	return &script{ids: ids, start: start, now: 1_000_000_000, sent: map[byte]uint16{'A': 65500, 'B': 300}, hidden: map[string]decode.Packet{}}
}

const us = 1000

func (s *script) say(text string) *script {
	for _, word := range strings.Fields(text) {
		switch {
		case word[0] == '+':
			n, err := strconv.ParseInt(word[1:], 10, 64)
			must(err)
			s.now += n * us
		case strings.HasSuffix(word, ":"):
			if s.who = word[:len(word)-1]; len(s.packets) > 0 {
				s.now += 9 * us
			}
		case word == "=":
			p := s.packets[len(s.packets)-1]
			s.pass(p)
		case strings.HasPrefix(word, "late:"):
			key := s.who + word[len("late:"):]
			p, ok := s.hidden[key]
			if !ok {
				panic("nothing was sent as " + key)
			}
			s.pass(p)
		case word[0] == '(':
			for _, p := range s.make(word[1:len(word)-1], true) {
				s.now += us
				s.hidden[s.who+p.word] = p.Packet
			}
		default:
			for _, p := range s.make(word, false) {
				s.pass(p.Packet)
			}
		}
	}
	return s
}

// pass lets a packet pass the tap.
func (s *script) pass(p decode.Packet) {
	s.now += us
	p.Time, p.Frame = s.now, uint64(len(s.packets)+1)
	s.packets = append(s.packets, p)
}

type worded struct {
	decode.Packet
	word string
}

// make returns the packets that a word stands for.
func (s *script) make(word string, unseen bool) (out []worded) {
	name, psns, ok := strings.Cut(word, ":")
	if !ok {
		name, psns = "", word
	}
	p := decode.Packet{Status: decode.RoCE, Version: 2, HasExt: true, Len: 1100, ICRC: decode.ICRCGood}
	trim := func(mark string) bool {
		rest, found := strings.CutSuffix(psns, mark)
		psns = rest
		return found
	}
	p.AckReq = trim("!")
	if trim("~") {
		p.ICRC = decode.ICRCBad
	}
	psns, msn, hasMSN := strings.Cut(psns, "m")
	psns, length, isRead := strings.Cut(psns, "x")
	first, last := span(psns)
	for n := first; n <= last; n++ {
		one := p
		op := verbs[name]
		if name == "resp" {
			op = ib.ReadResponseMiddle
			switch {
			case first == last:
				op = ib.ReadResponseOnly
			case n == first:
				op = ib.ReadResponseFirst
			case n == last:
				op = ib.ReadResponseLast
			}
		}
		if isRead {
			if op = ib.ReadRequest; length == "?" {
				one.HasExt = false
			} else {
				one.DMALen = uint32(number(length)) * 1024
			}
		}
		if ib.Of(s.tr, op).Is(ib.IsResponse) {
			one.MSN = uint32(n+1) & ib.PSNMask // as if all messages had one packet
			if hasMSN {
				one.MSN = uint32(number(msn))
			}
		}
		s.fill(&one, op, syndromes[name], int32(n))
		if name == "cnp" {
			one.Op, one.PSN, one.BECN, one.PayloadLen = ib.CNP, 0, true, 0
		}
		w := strconv.Itoa(n)
		if p.AckReq {
			w += "!"
		}
		if name != "" {
			w = name + ":" + w
		}
		out = append(out, worded{one, w})
	}
	return out
}

var verbs = map[string]ib.Op{
	"": ib.SendOnly, "first": ib.WriteFirst, "mid": ib.WriteMiddle, "last": ib.WriteLast, "wonly": ib.WriteOnly,
	"atomic": ib.FetchAdd, "flush": ib.Flush, "awrite": ib.AtomicWrite,
	"ack": ib.Acknowledge, "nak": ib.Acknowledge, "rnr": ib.Acknowledge, "fatal": ib.Acknowledge,
	"aack": ib.AtomicAcknowledge, "rfirst": ib.ReadResponseFirst, "rmid": ib.ReadResponseMiddle,
	"rlast": ib.ReadResponseLast, "ronly": ib.ReadResponseOnly,
}

var syndromes = map[string]ib.Syndrome{"nak": ib.NAKPSNSequence, "rnr": 0x2E, "fatal": ib.NAKRemoteAccess}

// fill sets who sends what to whom.
func (s *script) fill(p *decode.Packet, op ib.Op, syn ib.Syndrome, n int32) {
	host, other := s.who[0], byte('A'+'B')-s.who[0]
	p.Src, p.Dst = address(host, s.ids), address(other, s.ids)
	p.Op, p.Syndrome, p.IPv6 = ib.Of(s.tr, op), syn, s.ids == overIPv6
	p.QP = queuePair(string(other) + s.who[1:])
	p.SrcPort = 0xC000
	if s.port != nil {
		p.SrcPort = s.port(queuePair(s.who), p.QP)
	}
	if s.tr == ib.UD {
		p.SrcQP = queuePair(s.who)
	}
	asker := s.who
	if p.Op.Is(ib.IsResponse) {
		asker = string(other) + s.who[1:]
	}
	p.PSN = s.startOf(asker).Add(n)
	switch {
	case p.Op.Is(ib.IsFirst | ib.IsMiddle):
		p.PayloadLen = 1024
	case p.Op.Is(ib.HasPayload):
		p.PayloadLen = 64
	}
	p.ICRCVal = uint32(p.PSN)*2654435761 ^ uint32(p.Op)<<8
	s.sent[host]++
	switch k := s.sent[host]; s.ids {
	case rising:
		p.IPID = 4 * k // the host sends elsewhere, too
	case adjoining:
		p.IPID = k
	case scattered:
		p.IPID = k*0x9E37 ^ k>>3
	}
	p.ICRCVal ^= uint32(p.IPID) << 8 // the ICRC covers the ID
}

func (s *script) startOf(who string) ib.PSN {
	if at, ok := s.starts[who]; ok {
		return at
	}
	return s.start
}

// manage lets a connection management message pass.
func (s *script) manage(who string, m ib.CM) *script {
	tr := s.tr
	s.tr = ib.UD
	s.say(who + ": 0")
	s.tr = tr
	p := &s.packets[len(s.packets)-1]
	p.QP, p.SrcQP = 1, 1
	s.cms = append(s.cms, CMAt{len(s.packets) - 1, m})
	return s
}

// warm lets twenty requests of A pass, each with its ACK, so that round trip
// and IDs are known. They have the PSNs -20 to -1.
func (s *script) warm() *script {
	for n := -20; n < 0; n++ {
		s.say(fmt.Sprintf("A: %d! B: ack:%d", n, n))
	}
	return s
}

// play feeds what the script told to a shard of its own, and ends the capture.
func (s *script) play() *outcome {
	o := &outcome{script: s}
	cfg := Defaults(1)
	cfg.Tap = func(b *Batch) {
		o.events = append(o.events, b.Events...)
		o.verdicts = append(o.verdicts, b.Verdict...)
		o.flows = append(o.flows, b.Flow...)
	}
	o.shard = newShard(cfg, nil)
	o.shard.process(&input{packets: slices.Clone(s.packets), cms: slices.Clone(s.cms), began: s.packets[0].Time})
	o.verdicts = slices.Clone(o.verdicts)
	n := len(o.verdicts)
	o.shard.finish()
	o.verdicts, o.flows = o.verdicts[:n], o.flows[:n]
	return o
}

// span reads "3" or "3-5".
func span(text string) (int, int) {
	if i := strings.LastIndex(text, "-"); i > 0 {
		return number(text[:i]), number(text[i+1:])
	}
	n := number(text)
	return n, n
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	must(err)
	return n
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
