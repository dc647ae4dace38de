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
func (a *app) benchLoopCommand() *cobra.Command {
	return &cobra.Command{Use: "loop FILE", Hidden: true, Args: cobra.ExactArgs(1), RunE: func(_ *cobra.Command, args []string) error {
		f, err := os.Open(args[0])
		if err != nil {
			return unopened(args[0], err)
		}
		defer f.Close()
		n, err := countFlows(bufio.NewReaderSize(f, 1<<20))
		if err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
		_, err = fmt.Fprintln(a.stdout, n, "flows")
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
func countFlows(r *bufio.Reader) (int, error) {
	src, err := openLoop(r)
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

// benchReadCommand reads a file and does nothing with it.
func (a *app) benchReadCommand() *cobra.Command {
	return &cobra.Command{Use: "read FILE", Hidden: true, Args: cobra.ExactArgs(1), RunE: func(_ *cobra.Command, args []string) error {
		f, err := os.Open(args[0])
		if err != nil {
			return unopened(args[0], err)
		}
		defer f.Close()
		buf, n := make([]byte, 1<<20), int64(0)
		for {
			k, err := f.Read(buf)
			n += int64(k)
			if err == io.EOF {
				_, err = fmt.Fprintln(a.stdout, n, "bytes")
				return err
			}
			if err != nil {
				return err
			}
		}
	}}
}
