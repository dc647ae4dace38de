package decode

import "testing"

func TestDecodeCooked(t *testing.T) {
	sll := []byte{0, 4, 0, 1, 0, 6, 0x0C, 0x42, 0xA1, 0, 0, 1, 0, 0, 0x08, 0x00}
	sll2 := []byte{0x08, 0x00, 0, 0, 0, 0, 0, 7, 0, 1, 4, 6, 0x0C, 0x42, 0xA1, 0, 0, 1, 0, 0}
	mac := [6]byte{0x0C, 0x42, 0xA1, 0, 0, 1}
	tests := []struct {
		desc string
		link LinkType
		head []byte
		want [6]byte
	}{
		{"SLL", LinkSLL, sll, mac},
		{"SLL with a long address", LinkSLL, with(sll, 4, 0, 20), [6]byte{}},
		{"SLL2", LinkSLL2, sll2, mac},
		{"SLL2 without an address", LinkSLL2, with(sll2, 11, 0), [6]byte{}},
	}
	for _, tt := range tests {
		t.Run(tt.desc, func(t *testing.T) {
			p := decodeOne(tt.link, append(tt.head, send4...))
			if p.Status != RoCE || p.SrcMAC != tt.want || p.DstMAC != [6]byte{} || p.EtherType != etherIPv4 {
				t.Errorf("got %+v", p)
			}
		})
	}
}
