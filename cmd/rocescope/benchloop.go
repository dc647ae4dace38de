package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"
	"github.com/spf13/cobra"

	"github.com/rocescope/rocescope/decode/roce"
)

// benchLoopCommand is what a program written in an afternoon does: gopacket's
// fast parser over every frame, and a count for each flow.
func (a *app) benchLoopCommand() *cobra.Command { return a.countCommand("loop", "flows", countFlows) }

// benchReadCommand reads a file and does nothing with it.
func (a *app) benchReadCommand() *cobra.Command { return a.countCommand("read", "bytes", countBytes) }

// countCommand is a program to compare with: it counts something in a file.
func (a *app) countCommand(name, of string, count func(io.Reader) (int, error)) *cobra.Command {
	return &cobra.Command{Use: name + " FILE", Hidden: true, Args: cobra.ExactArgs(1), RunE: func(_ *cobra.Command, args []string) error {
		f, err := os.Open(args[0])
		if err != nil {
			return unopened(args[0], err)
		}
		defer f.Close()
		n, err := count(f)
		if err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
		_, err = fmt.Fprintln(a.stdout, n, of)
		return err
	}}
}

// packetReader is one of the readers of package pcapgo.
type packetReader interface {
	ZeroCopyReadPacketData() ([]byte, gopacket.CaptureInfo, error)
}

func openLoop(r *bufio.Reader) (packetReader, error) {
	magic, err := r.Peek(4)
	if err != nil {
		return nil, err
	}
	if binary.LittleEndian.Uint32(magic) == 0x0A0D0D0A {
		return pcapgo.NewNgReader(r, pcapgo.DefaultNgReaderOptions)
	}
	return pcapgo.NewReader(r)
}

// countFlows counts the packets of each destination queue pair of each pair of
// addresses, and returns how many there are.
func countFlows(r io.Reader) (int, error) {
	src, err := openLoop(bufio.NewReaderSize(r, 1<<20))
	if err != nil {
		return 0, err
	}
	type flow struct {
		src, dst [4]byte
		qp       uint32
	}
	var (
		eth    layers.Ethernet
		ip     layers.IPv4
		udp    layers.UDP
		bth    roce.BTH
		flows  = map[flow]int{}
		found  []gopacket.LayerType
		parser = gopacket.NewDecodingLayerParser(layers.LayerTypeEthernet, &eth, &ip, &udp, &bth)
	)
	parser.IgnoreUnsupported = true
	for {
		data, _, err := src.ZeroCopyReadPacketData()
		if err == io.EOF {
			return len(flows), nil
		}
		if err != nil {
			return 0, err
		}
		if parser.DecodeLayers(data, &found) == nil && len(found) == 4 {
			flows[flow{[4]byte(ip.SrcIP), [4]byte(ip.DstIP), bth.DestQP}]++
		}
	}
}

// countBytes reads to the end, as much at a time as an analysis does.
func countBytes(r io.Reader) (n int, err error) {
	buf := make([]byte, 1<<20)
	for {
		k, err := r.Read(buf)
		n += k
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}
