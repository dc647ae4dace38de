package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"regexp"
	"strings"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
	"github.com/rocescope/rocescope/decode/roce"
)

// writeLayers writes all the layers that gopacket finds in a frame.
func writeLayers(w *bufio.Writer, l *line) error {
	p := &l.packet
	cut := ""
	if p.CapLen < p.Len {
		cut = fmt.Sprintf(" (%d captured)", p.CapLen)
	}
	fmt.Fprintf(w, "Frame %d: %d bytes%s, at %s s\n", p.Frame, p.Len, cut, seconds(p.Time))
	if flags := l.flagTexts(); len(flags) > 0 {
		fmt.Fprintf(w, "  Analysis: %s\n", strings.Join(flags, ", "))
	}
	first, skip, remark := beginning(l.link, l.data)
	data := l.data[skip:]
	if begin, end, ok := ofRoCE(p, l.data); first == nil && ok {
		first, data = roce.LayerTypeBTH, l.data[begin:end]
		remark += fmt.Sprintf(": shown from the BTH on, behind %d bytes", begin)
	}
	if remark != "" {
		fmt.Fprintf(w, "  %s\n", remark)
	}
	if first != nil {
		packet := gopacket.NewPacket(data, first, gopacket.NoCopy)
		for _, layer := range packet.Layers() {
			fmt.Fprintf(w, "  %v (%d bytes): %s\n", layer.LayerType(), len(layer.LayerContents()), fieldsOf(layer))
		}
		if err := packet.ErrorLayer(); err != nil {
			fmt.Fprintf(w, "  not decoded further: %s\n", printable(firstLine(err.Error())))
		}
		if packet.Metadata().Truncated {
			fmt.Fprintln(w, "  the captured bytes end before the packet does")
		}
	}
	return w.WriteByte('\n')
}

// inner matches what the next lines show in full.
var inner = regexp.MustCompile(`\b(Contents|Payload)=\[[^\]]*\] ?`)

// fieldsOf returns a layer's fields in gopacket's fashion, without the name
// that stands before them already and the bytes that the layers behind it are.
func fieldsOf(layer gopacket.Layer) string {
	_, text, ok := strings.Cut(gopacket.LayerString(layer), "\t")
	if !ok {
		return ""
	}
	return printable(strings.TrimSpace(inner.ReplaceAllString(text, "")))
}

// beginning tells gopacket how to begin: with which decoder, and behind how
// many bytes. The remark is for the reader, where gopacket does not know all
// of the link type. The decoder is nil where it knows nothing of it.
func beginning(link decode.LinkType, data []byte) (first gopacket.Decoder, skip int, remark string) {
	switch link {
	case decode.LinkEthernet:
		return layers.LayerTypeEthernet, 0, ""
	case decode.LinkSLL:
		return layers.LayerTypeLinuxSLL, 0, ""
	case decode.LinkIPv4:
		return layers.LayerTypeIPv4, 0, ""
	case decode.LinkIPv6:
		return layers.LayerTypeIPv6, 0, ""
	case decode.LinkRaw:
		if len(data) > 0 && data[0]>>4 == 6 {
			return layers.LayerTypeIPv6, 0, ""
		}
		return layers.LayerTypeIPv4, 0, ""
	case decode.LinkSLL2:
		if len(data) < 20 {
			return nil, 0, "the Linux cooked v2 header is cut"
		}
		t := layers.EthernetType(binary.BigEndian.Uint16(data))
		return t, 20, fmt.Sprintf("Linux cooked v2 (20 bytes), which gopacket has no layer for: protocol %v, interface %d", t, binary.BigEndian.Uint32(data[4:]))
	}
	return nil, 0, fmt.Sprintf("gopacket does not know the link type %d (%v)", uint16(link), link)
}

// ofRoCE returns where the BTH begins and the ICRC ends, for link types that
// gopacket does not know.
func ofRoCE(p *decode.Packet, data []byte) (begin, end int, ok bool) {
	begin = int(p.PayloadOff) - int(p.Op.Info().Len) - ib.BTHLen
	end = min(len(data), int(p.PayloadOff)+int(p.PayloadLen)+int(p.PadCnt)+ib.ICRCLen)
	return begin, end, p.Status == decode.RoCE && p.HasExt && 0 <= begin && begin <= end
}
