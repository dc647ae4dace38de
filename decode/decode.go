package decode

import "github.com/rocescope/rocescope/decode/ib"

// DefaultPort is the UDP destination port of RoCEv2.
const DefaultPort = 4791

// Decoder turns frames into Packets. The zero value is ready. It is not safe
// for use by several goroutines at a time: keep one for each reader.
type Decoder struct {
	// Port is the UDP destination port that is taken for RoCEv2; 0 means
	// DefaultPort. Some older hosts are set to 1021.
	Port uint16

	net  network
	icrc ib.ICRC
	bth  ib.BTH // read here, where it need not be cleared before

	train train
}

// network is what the transport must know of the header below it. It lives in
// the Decoder, not in Packet, because nobody else asks for it.
type network struct {
	off  int // where the header starts in the frame
	hdr  int // its length, with options and extension headers
	room int // bytes behind it, as its length field says
}

// Decode reads f into p and returns p.Status. Whatever p held before is gone.
// It keeps no reference to f, allocates nothing, and takes any bytes.
//
// Lengths come from the headers and are held against each other; whether so
// many bytes were on the wire is not asked, because a mirror or a switch that
// trims packets cuts frames without correcting any length. Bytes behind the
// packet (Ethernet padding, frame check sequence) are ignored.
func (d *Decoder) Decode(f *Frame, p *Packet) Status {
	d.train.words = 0
	*p = Packet{}
	p.Time, p.Frame, p.Iface = f.Time, f.Number, f.Iface
	p.Len, p.CapLen = uint32(f.Len), uint32(len(f.Data))
	peel(d, p, byLink(f.Link), f.Data)
	if int(p.Len) != f.Len { // as a record header says
		d.train.words = 0
	}
	return p.Status
}
