package decode

import (
	"testing"

	"github.com/rocescope/rocescope/decode/ib"
)

func TestDecoderPort(t *testing.T) {
	d := Decoder{Port: 1021}
	var p Packet
	old := ip4(protoUDP, nil, udpTo(1021, ibPart(sendOnly, 0, hello)))
	if s := d.Decode(frameOf(LinkIPv4, old), &p); s != RoCE {
		t.Errorf("port 1021: %v", s)
	}
	if s := d.Decode(frameOf(LinkIPv4, send4), &p); s != Other || p.DstPort != DefaultPort {
		t.Errorf("port 4791: %v", s)
	}
}

// Every opcode is decoded, and its fields lie where its headers end.
func TestDecodeOpcodes(t *testing.T) {
	for i := range 256 {
		op := ib.Opcode(i)
		if op.Transport() == ib.RD {
			continue
		}
		ext := int(op.Info().Len)
		p := decodeOne(LinkIPv4, roce4(op, make([]byte, ext+20)))
		want := uint32(20)
		if op == ib.CNP {
			want = 0
		}
		if p.Status != RoCE || p.Op != op || !p.HasExt || p.PayloadLen != want || int(p.PayloadOff) != 40+ext {
			t.Errorf("%v: %+v", op, p)
		}
	}
}

// RD and NVIDIA DC share opcodes, and have other headers behind the BTH: none of
// them is read, and no length is called wrong for the lack of one.
func TestDecodeDC(t *testing.T) {
	for op := ib.Opcode(0x40); op < 0x60; op++ {
		p := decodeOne(LinkIPv4, roce4(op, []byte("8 bytes.")))
		if p.Status != RoCE || p.Op != op || p.QP == 0 || p.Odd != OddDC || p.HasExt || p.PayloadOff != 0 || p.PayloadLen != 8 || p.SrcQP != 0 || p.ICRC != ICRCGood {
			t.Errorf("%v: %+v", op, p)
		}
	}
}

func TestDecodeExtensions(t *testing.T) {
	reth := ib.RETH{VA: 0x1122334455667788, RKey: 0xA1A2A3A4, DMALen: 4096}
	aeth := ib.AETH{Syndrome: ib.NAKPSNSequence, MSN: 0x123456}
	deth := ib.DETH{QKey: 1, SrcQP: 0x654321}
	imm := ib.ImmDt{Data: 0xCAFE0001}
	skip := []byte{9, 9, 9, 9}
	tests := []struct {
		op   ib.Opcode
		ext  []byte
		want Packet
	}{
		{ib.Of(ib.RC, ib.WriteOnlyImm), imm.Append(reth.Append(nil)), Packet{VA: reth.VA, RKey: reth.RKey, DMALen: 4096, Imm: imm.Data}},
		{ib.Of(ib.XRC, ib.ReadRequest), reth.Append(skip[:4:4]), Packet{VA: reth.VA, RKey: reth.RKey, DMALen: 4096}},
		{ib.Of(ib.RC, ib.Flush), reth.Append(skip[:4:4]), Packet{VA: reth.VA, RKey: reth.RKey, DMALen: 4096}},
		{ib.Of(ib.UD, ib.SendOnlyImm), imm.Append(deth.Append(nil)), Packet{SrcQP: deth.SrcQP, Imm: imm.Data}},
		{ib.Of(ib.RC, ib.AtomicAcknowledge), append(aeth.Append(nil), make([]byte, 8)...), Packet{Syndrome: aeth.Syndrome, MSN: aeth.MSN}},
		{ib.Of(ib.XRC, ib.FetchAdd), append(reth.Append(skip[:4:4]), make([]byte, 12)...), Packet{VA: reth.VA, RKey: reth.RKey}},
		{ib.Of(ib.XRC, ib.SendOnlyInvalidate), append(skip[:4:4], 0xDE, 0xAD, 0xBE, 0xEF), Packet{RKey: 0xDEADBEEF}},
	}
	for _, tt := range tests {
		p := decodeOne(LinkIPv4, roce4(tt.op, tt.ext))
		got := Packet{
			VA: p.VA, RKey: p.RKey, DMALen: p.DMALen, Imm: p.Imm, SrcQP: p.SrcQP, Syndrome: p.Syndrome, MSN: p.MSN,
		}
		if !p.HasExt || got != tt.want {
			t.Errorf("%v: got %+v\nwant %+v", tt.op, got, tt.want)
		}
	}
}

func TestDecodeICRC(t *testing.T) {
	data := ethernetFrame(etherIPv4, send4)
	if p := decodeOne(LinkEthernet, append(data, 0, 0, 1, 2, 3, 4)); p.ICRC != ICRCGood {
		t.Errorf("behind pad and frame check sequence: %d", p.ICRC)
	}
	if p := decodeOne(LinkEthernet, with(data, 14+40, 'H')); p.ICRC != ICRCBad || p.ICRCVal != ib.ReadICRC(send4[len(send4)-4:]) {
		t.Errorf("damaged payload: %d", p.ICRC)
	}
	if p := decodeOne(LinkEthernet, data[:len(data)-1]); p.ICRC != ICRCUnchecked || p.ICRCVal != 0 {
		t.Errorf("one byte short: %d", p.ICRC)
	}
}

// A snap length of 64 ends within the immediate data of a datagram: who sent it stands
// before that.
func TestDecodeCutDatagram(t *testing.T) {
	deth := ib.DETH{QKey: 0x11111111, SrcQP: 0x123456}
	data := roce4(ib.Of(ib.UD, ib.SendOnlyImm), append(deth.Append(nil), 1, 2, 3, 4))
	for n := 40; n <= 52; n++ {
		want := uint32(0)
		if n >= 48 {
			want = deth.SrcQP
		}
		if p := decodeOne(LinkIPv4, data[:n]); p.Status != RoCE || p.HasExt != (n == 52) || p.SrcQP != want {
			t.Errorf("%d bytes: from queue pair %#x, want %#x: %+v", n, p.SrcQP, want, p)
		}
	}
}

// A snap length may end within the AETH: its first byte alone tells ACK from NAK.
func TestDecodeCutAcknowledgement(t *testing.T) {
	aeth := ib.AETH{Syndrome: ib.NAKPSNSequence, MSN: 0x123456}
	data := roce4(ib.Of(ib.RC, ib.Acknowledge), aeth.Append(nil))
	for n := 40; n < 44; n++ {
		p := decodeOne(LinkIPv4, data[:n])
		if p.Status != RoCE || p.HasExt || p.PayloadOff != 0 || p.HasSyndrome() != (n > 40) {
			t.Errorf("%d bytes: %+v", n, p)
		}
		if n > 40 && (p.Syndrome != aeth.Syndrome || p.MSN != MSNCut) {
			t.Errorf("%d bytes: syndrome %v, MSN %#x", n, p.Syndrome, p.MSN)
		}
	}
	if p := decodeOne(LinkIPv4, data[:44]); !p.HasExt || !p.HasSyndrome() || p.MSN != aeth.MSN {
		t.Errorf("whole AETH: %+v", p)
	}
	read := append(aeth.Append(nil), make([]byte, 8)...)
	if p := decodeOne(LinkIPv4, roce4(ib.Of(ib.RC, ib.ReadResponseOnly), read)[:41]); p.HasSyndrome() || p.MSN != 0 {
		t.Errorf("a READ response is no acknowledgement: %+v", p)
	}
	rd := roce4(ib.Of(ib.RD, ib.Acknowledge), append(make([]byte, 4), aeth.Append(nil)...))
	for n := 40; n <= len(rd); n++ {
		if p := decodeOne(LinkIPv4, rd[:n]); p.HasSyndrome() || p.MSN != 0 || p.Syndrome != 0 {
			t.Errorf("RD, whose first header is another, of %d bytes: %v %#x", n, p.Syndrome, p.MSN)
		}
	}
}
