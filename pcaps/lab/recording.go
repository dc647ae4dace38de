package main

import (
	"errors"
	"io"
	"net/netip"
	"path/filepath"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/capture"
	"github.com/rocescope/rocescope/decode/ib"
)

// A recording is what the guest left of a scenario.
type recording struct {
	scenario *scenario
	dir      string
	seen     map[string][]frame // by tap
	total    map[string]int     // frames of any kind, by tap
}

// A frame is a RoCE packet at one tap.
type frame struct {
	decode.Packet
	tap string
	key key
}

// A key is the same at all taps that a frame passes, and differs between any
// two frames of one sender: Soft-RoCE numbers the IPv4 packets of each
// destination, those sent again too, and number does so with those of IPv6. ECN is
// left out, since switches change it.
type key struct {
	src, dst   [16]byte
	id         uint16
	port       uint16
	op         ib.Opcode
	qp         uint32
	psn        ib.PSN
	ackReq     bool
	syndrome   ib.Syndrome
	msn        uint32
	va         uint64
	dmaLen     uint32
	payloadLen uint32
}

func keyOf(p *decode.Packet) key {
	return key{p.Src, p.Dst, p.IPID, p.SrcPort, p.Op, p.QP, p.PSN, p.AckReq, p.Syndrome, p.MSN, p.VA, p.DMALen, p.PayloadLen}
}

func (r *recording) capture(point string) string { return filepath.Join(r.dir, point+".pcap") }

// read decodes all captures.
func (r *recording) read() error {
	r.seen, r.total = map[string][]frame{}, map[string]int{}
	for _, t := range r.scenario.Taps {
		var d decode.Decoder
		err := eachFrame(r.capture(t.Point), func(f *decode.Frame) error {
			r.total[t.Point]++
			var p decode.Packet
			if d.Decode(f, &p) == decode.RoCE {
				r.seen[t.Point] = append(r.seen[t.Point], frame{p, t.Point, keyOf(&p)})
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	r.number()
	return nil
}

// eachFrame calls a function with every frame of a capture file.
func eachFrame(name string, do func(*decode.Frame) error) error {
	f, err := capture.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	var frame decode.Frame
	for {
		err := f.Read(&frame)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := do(&frame); err != nil {
			return err
		}
	}
}

// hostOf is the number of the host that has an address, 0 where none has: in
// all networks of the lab it is the last byte.
func hostOf(address [16]byte) int { return int(address[15]) }

func text(address [16]byte) string { return netip.AddrFrom16(address).Unmap().String() }
