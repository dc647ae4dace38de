package ib_test

import (
	"strings"
	"testing"

	"github.com/rocescope/rocescope/decode/ib"
)

// rows lists every assigned opcode with the headers behind the BTH in their
// order, "P" where payload may follow. It is written out by hand so that it
// shares nothing with the table it is held against.
const rows = `
00 P                    20 P                40 RDETH DETH P              A0 XRCETH P
01 P                    21 P                41 RDETH DETH P              A1 XRCETH P
02 P                    22 P                42 RDETH DETH P              A2 XRCETH P
03 ImmDt P              23 ImmDt P          43 RDETH DETH ImmDt P        A3 XRCETH ImmDt P
04 P                    24 P                44 RDETH DETH P              A4 XRCETH P
05 ImmDt P              25 ImmDt P          45 RDETH DETH ImmDt P        A5 XRCETH ImmDt P
06 RETH P               26 RETH P           46 RDETH DETH RETH P         A6 XRCETH RETH P
07 P                    27 P                47 RDETH DETH P              A7 XRCETH P
08 P                    28 P                48 RDETH DETH P              A8 XRCETH P
09 ImmDt P              29 ImmDt P          49 RDETH DETH ImmDt P        A9 XRCETH ImmDt P
0A RETH P               2A RETH P           4A RDETH DETH RETH P         AA XRCETH RETH P
0B RETH ImmDt P         2B RETH ImmDt P     4B RDETH DETH RETH ImmDt P   AB XRCETH RETH ImmDt P
0C RETH                                     4C RDETH DETH RETH           AC XRCETH RETH
0D AETH P                                   4D RDETH AETH P              AD AETH P
0E P                                        4E RDETH P                   AE P
0F AETH P                                   4F RDETH AETH P              AF AETH P
10 AETH P                                   50 RDETH AETH P              B0 AETH P
11 AETH                                     51 RDETH AETH                B1 AETH
12 AETH AtomicAckETH                        52 RDETH AETH AtomicAckETH   B2 AETH AtomicAckETH
13 AtomicETH                                53 RDETH DETH AtomicETH      B3 XRCETH AtomicETH
14 AtomicETH                                54 RDETH DETH AtomicETH      B4 XRCETH AtomicETH
55 RDETH DETH
16 IETH P               B6 XRCETH IETH P
17 IETH P               B7 XRCETH IETH P
1C FETH RETH            5C RDETH FETH RETH  BC XRCETH FETH RETH
1D RETH P
64 DETH P               65 DETH ImmDt P
81
`

// bits and lens know each header by its name.
var (
	bits = map[string]ib.Headers{
		"RDETH": ib.HasRDETH, "DETH": ib.HasDETH, "XRCETH": ib.HasXRCETH, "FETH": ib.HasFETH, "RETH": ib.HasRETH,
		"AtomicETH": ib.HasAtomicETH, "AETH": ib.HasAETH, "AtomicAckETH": ib.HasAtomicAckETH, "ImmDt": ib.HasImmDt, "IETH": ib.HasIETH,
	}
	lens = map[string]int{
		"RDETH": 4, "DETH": 8, "XRCETH": 4, "FETH": 4, "RETH": 16,
		"AtomicETH": 28, "AETH": 4, "AtomicAckETH": 8, "ImmDt": 4, "IETH": 4,
	}
)

func TestOpcodeTable(t *testing.T) {
	var want [256][]string // nil: unassigned
	op := -1
	for _, w := range strings.Fields(rows) {
		if _, header := bits[w]; header || w == "P" {
			want[op] = append(want[op], w)
			continue
		}
		op = int(unhex(t, w)[0])
		want[op] = []string{}
	}
	for op, row := range want {
		checkRow(t, ib.Opcode(op), row)
	}
}

func checkRow(t *testing.T, o ib.Opcode, row []string) {
	info := o.Info()
	if info.Known() != (row != nil) {
		t.Errorf("%v: known is %v", o, info.Known())
	}
	var headers ib.Headers
	payload, size := false, 0
	for _, w := range row {
		if w == "P" {
			payload = true
			continue
		}
		headers |= bits[w]
		if got := info.Headers.Offset(bits[w]); got != size {
			t.Errorf("%v: %s at %d, want %d", o, w, got, size)
		}
		size += lens[w]
	}
	if info.Headers != headers || int(info.Len) != size || o.Is(ib.HasPayload) != payload {
		t.Errorf("%v: headers %b len %d payload %v, want %b %d %v",
			o, info.Headers, info.Len, o.Is(ib.HasPayload), headers, size, payload)
	}
	if o.Is(ib.IsRequest) && o.Is(ib.IsResponse) {
		t.Errorf("%v is both request and response", o)
	}
}

func TestOpcodeNames(t *testing.T) {
	for o, want := range map[ib.Opcode]string{
		0x00: "RC SEND First", 0x0B: "RC RDMA WRITE Only with Immediate", 0x11: "RC Acknowledge",
		0x24: "UC SEND Only", 0x55: "RD RESYNC", 0x64: "UD SEND Only", 0x65: "UD SEND Only with Immediate",
		0x81: "CNP", 0xA6: "XRC RDMA WRITE First", 0x1C: "RC FLUSH", 0x80: "unknown 0x80", 0xE1: "unknown 0xE1",
	} {
		if got := o.String(); got != want {
			t.Errorf("%02x: %q, want %q", uint8(o), got, want)
		}
	}
}

func TestTransport(t *testing.T) {
	for o, want := range map[ib.Opcode]ib.Transport{
		0x04: ib.RC, 0x24: ib.UC, 0x44: ib.RD, 0x64: ib.UD, 0x81: ib.TransportCNP, 0xA4: ib.XRC, 0xC1: ib.Manufacturer, 0xFF: ib.Manufacturer,
	} {
		if got := o.Transport(); got != want {
			t.Errorf("%02x: %v, want %v", uint8(o), got, want)
		}
		if want != ib.Manufacturer && ib.Of(want, o.Op()) != o {
			t.Errorf("%02x: transport and operation do not give it back", uint8(o))
		}
	}
}

// The roles that decide how a packet moves the PSN.
func TestKinds(t *testing.T) {
	for _, c := range []struct {
		o    ib.Opcode
		want ib.Kind
	}{
		{0x06, ib.IsRequest | ib.IsWrite | ib.IsFirst | ib.HasPayload},
		{0x07, ib.IsRequest | ib.IsWrite | ib.IsMiddle | ib.HasPayload},
		{0x03, ib.IsRequest | ib.IsSend | ib.IsLast | ib.HasPayload},
		{0x0C, ib.IsRequest | ib.IsRead | ib.IsOnly | ib.AnsweredByRead},
		{0x1C, ib.IsRequest | ib.IsOnly | ib.AnsweredByRead},
		{0x0F, ib.IsResponse | ib.IsReadResponse | ib.IsLast | ib.HasPayload},
		{0x11, ib.IsResponse | ib.IsAck},
		{0x12, ib.IsResponse | ib.IsAtomicAck},
		{0x13, ib.IsRequest | ib.IsAtomic | ib.IsOnly},
		{0x64, ib.IsRequest | ib.IsSend | ib.IsOnly | ib.HasPayload},
		{0x81, 0},
		{0xE0, 0},
	} {
		if got := c.o.Info().Kind; got != c.want {
			t.Errorf("%v: %b, want %b", c.o, got, c.want)
		}
	}
}
