package main

import (
	"fmt"
	"net"
	"strings"
	"unicode/utf8"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// text writes frames for a person. Columns widen where a value needs it, and
// stay so.
type text struct{ ends, what int }

// The widths that columns begin with: two IPv4 addresses, and an opcode.
const (
	endsWidth = 2*len("192.168.100.100") - 6
	whatWidth = len("RC RDMA WRITE Middle")
)

// line returns a frame as a line of text.
func (t *text) line(l *line) string {
	p := &l.packet
	ends := ends(p)
	what := what(p)
	t.ends = min(max(t.ends, endsWidth, utf8.RuneCountInString(ends)), 90)
	t.what = max(t.what, whatWidth, len(what))
	parts := []string{
		fmt.Sprintf("%6d", p.Frame), seconds(p.Time - l.start),
		padded(ends, t.ends), padded(what, t.what), fmt.Sprintf("%5d B", p.Len),
	}
	parts = append(parts, details(p)...)
	if l.cm != "" {
		parts = append(parts, l.cm)
	}
	parts = append(parts, around(p)...)
	if flags := l.flagTexts(); len(flags) > 0 {
		parts = append(parts, "["+strings.Join(flags, ", ")+"]")
	}
	return strings.TrimRight(strings.Join(parts, "  "), " ") + "\n"
}

func padded(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}

// ends names where a frame comes from and goes to.
func ends(p *decode.Packet) string {
	switch {
	case p.Dst != [16]byte{}:
		return decode.Address(p.Src) + " → " + decode.Address(p.Dst)
	case p.DstMAC != [6]byte{}:
		return net.HardwareAddr(p.SrcMAC[:]).String() + " → " + net.HardwareAddr(p.DstMAC[:]).String()
	}
	return ""
}

// what says what a frame is.
func what(p *decode.Packet) string {
	switch p.Status {
	case decode.RoCE:
		return p.Op.String()
	case decode.Other:
		return notRoCE(p)
	case decode.Truncated:
		return "cut before the BTH"
	}
	return p.Status.String()
}

// notRoCE names a frame that the decoder has no business with.
func notRoCE(p *decode.Packet) string {
	switch {
	case p.Dst != [16]byte{} && p.DstPort != 0:
		name := "UDP"
		if p.Proto == 6 {
			name = "TCP"
		}
		return fmt.Sprintf("%s %d → %d", name, p.SrcPort, p.DstPort)
	case p.Dst != [16]byte{}:
		return fmt.Sprintf("IP protocol %d", p.Proto)
	case p.EtherType == 0x0806:
		return "ARP"
	case p.EtherType < 0x0600:
		return "not RoCE"
	}
	return fmt.Sprintf("EtherType 0x%04x", p.EtherType)
}

// details are the fields that matter in a frame of its kind.
func details(p *decode.Packet) []string {
	switch p.Status {
	case decode.RoCE:
		return append(transport(p), marks(p)...)
	case decode.PFC:
		return priorities(&p.Pause)
	case decode.Pause:
		return []string{pauseTime(p.Pause.Quanta[0])}
	}
	return nil
}

// transport are the fields of BTH and extension headers.
func transport(p *decode.Packet) []string {
	d := []string{fmt.Sprintf("QP %#x", p.QP), fmt.Sprintf("PSN %d", p.PSN)}
	if p.Odd&decode.OddDC != 0 {
		return append(d, "headers not read")
	}
	if p.HasSyndrome() && !p.HasExt {
		d = append(d, p.Syndrome.String())
	}
	if !p.HasExt {
		return append(d, "headers cut")
	}
	h := p.Op.Info().Headers
	if h&ib.HasAETH != 0 {
		d = append(d, p.Syndrome.String(), fmt.Sprintf("MSN %d", p.MSN))
	}
	if h&ib.HasDETH != 0 {
		d = append(d, fmt.Sprintf("from QP %#x", p.SrcQP))
	}
	if h&ib.HasRETH != 0 {
		d = append(d, fmt.Sprintf("DMALen %d", p.DMALen))
	}
	if h&ib.HasImmDt != 0 {
		d = append(d, fmt.Sprintf("ImmDt 0x%08x", p.Imm))
	}
	if h&ib.HasIETH != 0 {
		d = append(d, fmt.Sprintf("invalidates 0x%08x", p.RKey))
	}
	return d
}

// marks are the bits that a frame seldom has.
func marks(p *decode.Packet) []string {
	var d []string
	for _, m := range []struct {
		is   bool
		name string
	}{
		{p.AckReq, "AckReq"},
		{p.ECN == decode.CE, "CE"},
		{p.FECN, "FECN"},
		{p.BECN && p.Op != ib.CNP, "BECN"},
		{p.ICRC == decode.ICRCBad, "ICRC bad"},
	} {
		if m.is {
			d = append(d, m.name)
		}
	}
	return d
}

// around says what a frame was wrapped in and what is unusual about it.
func around(p *decode.Packet) []string {
	var d []string
	if p.Encap != 0 {
		d = append(d, "in "+p.Encap.String())
		if p.Tagged {
			d = append(d, fmt.Sprintf("VID %d", p.VLAN))
		}
		if p.VNI != 0 {
			d = append(d, fmt.Sprintf("VNI %d", p.VNI))
		}
		if p.CutByMirror {
			d = append(d, "cut by the mirror")
		}
	}
	if p.Odd != 0 {
		d = append(d, p.Odd.String())
	}
	return d
}

// priorities tells what a PFC frame asks of each priority it names.
func priorities(p *decode.PauseInfo) []string {
	var d []string
	for i, quanta := range p.Quanta {
		if p.Enabled>>i&1 != 0 {
			d = append(d, fmt.Sprintf("priority %d: %s", i, pauseTime(quanta)))
		}
	}
	return d
}

func pauseTime(quanta uint16) string {
	if quanta == 0 {
		return "resume"
	}
	return fmt.Sprintf("pause %d quanta", quanta)
}
