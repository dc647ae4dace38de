package main

import (
	"fmt"
	"math/bits"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// field is one value of a frame, under the name that Wireshark gives it and in
// the form that tshark prints it. Of headers that repeat (tunnels) it is the
// innermost one's.
type field struct {
	name string
	// text returns the value, and is not called where has says there is none.
	text func(*line) string
	has  func(*decode.Packet) bool
	kind fieldKind
}

// fieldKind says what a field is in JSON.
type fieldKind uint8

const (
	number fieldKind = iota
	word             // hexadecimal numbers, addresses, and times, of which floating point would lose digits
	flags            // those of the analysis
)

// fields is the table of all there are.
var fields = []field{
	{"frame.number", num(func(p *decode.Packet) uint64 { return p.Frame }), always, number},
	{"frame.time_epoch", func(l *line) string { return seconds(l.packet.Time) }, always, word},
	{"frame.len", num(func(p *decode.Packet) uint32 { return p.Len }), always, number},
	{"frame.cap_len", num(func(p *decode.Packet) uint32 { return p.CapLen }), always, number},
	{"ip.src", addr(func(p *decode.Packet) [16]byte { return p.Src }), isIPv4, word},
	{"ip.dst", addr(func(p *decode.Packet) [16]byte { return p.Dst }), isIPv4, word},
	{"ip.dsfield.dscp", num(func(p *decode.Packet) uint8 { return p.DSCP }), isIPv4, number},
	{"ip.dsfield.ecn", num(func(p *decode.Packet) decode.ECN { return p.ECN }), isIPv4, number},
	{"ip.ttl", num(func(p *decode.Packet) uint8 { return p.TTL }), isIPv4, number},
	{"ipv6.src", addr(func(p *decode.Packet) [16]byte { return p.Src }), isIPv6, word},
	{"ipv6.dst", addr(func(p *decode.Packet) [16]byte { return p.Dst }), isIPv6, word},
	{"ipv6.tclass.dscp", num(func(p *decode.Packet) uint8 { return p.DSCP }), isIPv6, number},
	{"ipv6.tclass.ecn", num(func(p *decode.Packet) decode.ECN { return p.ECN }), isIPv6, number},
	{"udp.srcport", num(func(p *decode.Packet) uint16 { return p.SrcPort }), isUDP, number},
	{"udp.dstport", num(func(p *decode.Packet) uint16 { return p.DstPort }), isUDP, number},
	{"infiniband.grh.sgid", func(l *line) string { return netip.AddrFrom16(l.packet.Src).String() }, isGRH, word},
	{"infiniband.grh.dgid", func(l *line) string { return netip.AddrFrom16(l.packet.Dst).String() }, isGRH, word},
	{"infiniband.bth.opcode", num(func(p *decode.Packet) ib.Opcode { return p.Op }), isRoCE, number},
	{"infiniband.bth.se", bit(func(p *decode.Packet) bool { return p.Solicited }), isRoCE, number},
	{"infiniband.bth.m", bit(func(p *decode.Packet) bool { return p.MigReq }), isRoCE, number},
	{"infiniband.bth.padcnt", num(func(p *decode.Packet) uint8 { return p.PadCnt }), isRoCE, number},
	{"infiniband.bth.tver", num(func(p *decode.Packet) uint8 { return p.TVer }), isRoCE, number},
	{"infiniband.bth.p_key", num(func(p *decode.Packet) uint16 { return p.PKey }), isRoCE, number},
	{"infiniband.bth.fecn", bit(func(p *decode.Packet) bool { return p.FECN }), isRoCE, number},
	{"infiniband.bth.becn", bit(func(p *decode.Packet) bool { return p.BECN }), isRoCE, number},
	{"infiniband.bth.destqp", hex("0x%06x", func(p *decode.Packet) uint32 { return p.QP }), isRoCE, word},
	{"infiniband.bth.a", bit(func(p *decode.Packet) bool { return p.AckReq }), isRoCE, number},
	{"infiniband.bth.psn", num(func(p *decode.Packet) ib.PSN { return p.PSN }), isRoCE, number},
	{"infiniband.aeth.syndrome", num(func(p *decode.Packet) ib.Syndrome { return p.Syndrome }), carries(ib.HasAETH), number},
	{"infiniband.aeth.msn", num(func(p *decode.Packet) uint32 { return p.MSN }), carries(ib.HasAETH), number},
	{"infiniband.reth.va", hex("0x%016x", func(p *decode.Packet) uint64 { return p.VA }), carries(ib.HasRETH | ib.HasAtomicETH), word},
	{"infiniband.reth.r_key", hex("0x%08x", func(p *decode.Packet) uint32 { return p.RKey }), carries(ib.HasRETH | ib.HasAtomicETH), word},
	{"infiniband.reth.dmalen", num(func(p *decode.Packet) uint32 { return p.DMALen }), carries(ib.HasRETH), number},
	{"infiniband.deth.srcqp", hex("0x%08x", func(p *decode.Packet) uint32 { return p.SrcQP }), carries(ib.HasDETH), word},
	{"infiniband.immdt", hex("%08x", func(p *decode.Packet) uint32 { return p.Imm }), carries(ib.HasImmDt), word},
	{"infiniband.ieth", hex("%08x", func(p *decode.Packet) uint32 { return p.RKey }), carries(ib.HasIETH), word},
	{"infiniband.invariant.crc", hex("0x%08x", func(p *decode.Packet) uint32 { return bits.ReverseBytes32(p.ICRCVal) }),
		func(p *decode.Packet) bool { return p.Status == decode.RoCE && p.ICRC != decode.ICRCUnchecked }, word},
	{"roce.analysis.flags", func(l *line) string { return strings.Join(l.flagNames(), ",") }, always, flags},
}

func always(*decode.Packet) bool   { return true }
func isRoCE(p *decode.Packet) bool { return p.Status == decode.RoCE }
func isGRH(p *decode.Packet) bool  { return isRoCE(p) && p.Version == 1 }
func isIPv4(p *decode.Packet) bool { return p.Dst != [16]byte{} && !p.IPv6 }
func isIPv6(p *decode.Packet) bool { return p.Dst != [16]byte{} && p.IPv6 && !isGRH(p) }
func isUDP(p *decode.Packet) bool  { return p.Proto == 17 && p.DstPort != 0 }

// carries tells of frames with one of the extension headers h.
func carries(h ib.Headers) func(*decode.Packet) bool {
	return func(p *decode.Packet) bool { return isRoCE(p) && p.HasExt && p.Op.Info().Headers&h != 0 }
}

func num[T ~uint8 | ~uint16 | ~uint32 | ~uint64](get func(*decode.Packet) T) func(*line) string {
	return func(l *line) string { return strconv.FormatUint(uint64(get(&l.packet)), 10) }
}

func hex[T uint32 | uint64](format string, get func(*decode.Packet) T) func(*line) string {
	return func(l *line) string { return fmt.Sprintf(format, get(&l.packet)) }
}

func bit(get func(*decode.Packet) bool) func(*line) string {
	return func(l *line) string {
		if get(&l.packet) {
			return "1"
		}
		return "0"
	}
}

func addr(get func(*decode.Packet) [16]byte) func(*line) string {
	return func(l *line) string { return decode.Address(get(&l.packet)) }
}

// seconds writes nanoseconds as seconds, with all their digits.
func seconds(ns int64) string {
	sign, u := "", uint64(ns)
	if ns < 0 {
		sign, u = "-", -u
	}
	return fmt.Sprintf("%s%d.%09d", sign, u/1e9, u%1e9)
}

// ofAnalysis reports whether the field needs an analysis.
func (f field) ofAnalysis() bool { return f.kind == flags }

func fieldNames() []string {
	var names []string
	for i := range fields {
		names = append(names, fields[i].name)
	}
	return names
}

// fieldHelp lists the names for the manual.
func fieldHelp() string { return wrapped(fieldNames(), 78) }

// wrapped sets words into indented lines.
func wrapped(words []string, width int) string {
	var b strings.Builder
	at := width
	for _, w := range words {
		if at+1+len(w) > width {
			b.WriteString("\n ")
			at = 1
		}
		b.WriteString(" " + w)
		at += 1 + len(w)
	}
	return strings.TrimPrefix(b.String(), "\n")
}

// fieldsByName looks names up in the table.
func fieldsByName(names []string) ([]field, error) {
	var out []field
	for _, name := range names {
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
		if i < 0 {
			return nil, usage("the fields are "+strings.Join(fieldNames(), ", "), "there is no field %q", name)
		}
		out = append(out, fields[i])
	}
	return out, nil
}
