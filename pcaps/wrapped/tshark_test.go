package wrapped

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"net/netip"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/decode"
)

// tsharkFields are the BTH's and the ICRC, those of what is around the packet,
// and the addresses of all that can have some.
var tsharkFields = []string{
	"infiniband.bth.opcode", "infiniband.bth.psn", "infiniband.bth.destqp", "infiniband.invariant.crc",
	"vlan.id", "vlan.priority", "gre.sequence_number", "erspan.spanid", "vxlan.vni", "geneve.vni",
	"ip.src", "ip.dst", "ipv6.src", "ipv6.dst", "infiniband.grh.sgid", "infiniband.grh.dgid", "infiniband.lrh.slid", "infiniband.lrh.dlid",
}

// A second reader must find the same packet inside. Where it knows less, the
// sample says why (roce-facts, 11, lists more of tshark's faults).
func TestPacketsAreThoseOfTshark(t *testing.T) {
	for _, command := range []string{"tshark", "mergecap"} {
		if _, err := exec.LookPath(command); err != nil {
			t.Skip(command + " is not installed: nothing is compared")
		}
	}
	rows := tsharkRows(t, concatenated(t))
	each(t, func(t *testing.T, s *sample) {
		if !compared(s) {
			t.Skip("not compared: " + s.tshark)
		}
		if len(rows) < len(s.want) {
			t.Fatalf("tshark sees %d frames, want %d", len(rows), len(s.want))
		}
		got := rows[:len(s.want)]
		rows = rows[len(s.want):]
		for i := range s.want {
			if s.blind != nil && s.blind(i) {
				t.Logf("frame %d is not compared: %s", i+1, s.tshark)
				continue
			}
			if want := asTshark(&s.want[i]); !slices.Equal(seenBy(&s.want[i], got[i]), want) {
				t.Errorf("frame %d: tshark has %q, want %q", i+1, seenBy(&s.want[i], got[i]), want)
			}
		}
	})
}

// compared reports whether tshark understands any of the file.
func compared(s *sample) bool { return s.tshark == "" || s.blind != nil }

// concatenated has the frames of all files one behind the other, so that tshark
// is started once: that takes it far longer than a file does.
func concatenated(t *testing.T) string {
	t.Helper()
	all := filepath.Join(t.TempDir(), "all.pcapng")
	args := []string{"-a", "-w", all}
	for _, s := range samples() {
		if compared(&s) {
			args = append(args, s.name)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "mergecap", args...).CombinedOutput(); err != nil {
		t.Fatalf("mergecap: %v: %s", err, out)
	}
	return all
}

// tsharkRows has a row of fields for each frame; of a field that occurs more
// than once, the innermost.
func tsharkRows(t *testing.T, file string) [][]string {
	t.Helper()
	args := []string{"-n", "-r", file, "--disable-protocol", "rpcordma", "-T", "fields", "-E", "occurrence=l"}
	for _, f := range tsharkFields {
		args = append(args, "-e", f)
	}
	cmd := exec.CommandContext(t.Context(), "tshark", args...)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, complaint.String())
	}
	var rows [][]string
	for line := range strings.Lines(string(out)) {
		rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return rows
}

// firstAddress is where the addresses start among them.
const firstAddress = 10

// asTshark is what tshark should print of a packet, numbers in decimal.
func asTshark(p *decode.Packet) []string {
	out := make([]string, firstAddress)
	set := func(at int, is bool, v uint32) {
		if is {
			out[at] = fmt.Sprint(v)
		}
	}
	roce := p.Status == decode.RoCE
	set(0, roce, uint32(p.Op))
	set(1, roce, uint32(p.PSN))
	set(2, roce, p.QP)
	set(3, hasICRC(p), bits.ReverseBytes32(p.ICRCVal))
	set(4, p.Tagged, uint32(p.VLAN))
	set(5, p.Tagged, uint32(p.PCP))
	set(6, p.HasGRESeq, p.GRESeq)
	set(7, p.Encap&(decode.EncapERSPAN2|decode.EncapERSPAN3) != 0, uint32(p.Session))
	set(8, p.Encap&(decode.EncapVXLAN|decode.EncapVXLANGPE) != 0, p.VNI)
	set(9, p.Encap&decode.EncapGENEVE != 0, p.VNI)
	switch {
	case p.Dst == [16]byte{}:
		return append(out, "", "")
	case byLIDs(p):
		return append(out, fmt.Sprint(binary.BigEndian.Uint16(p.Src[14:])), fmt.Sprint(binary.BigEndian.Uint16(p.Dst[14:])))
	}
	return append(out, netip.AddrFrom16(p.Src).Unmap().String(), netip.AddrFrom16(p.Dst).Unmap().String())
}

// hasICRC reports whether both readers tell the ICRC: ours where it can be checked,
// tshark where it knows the opcode.
func hasICRC(p *decode.Packet) bool {
	const rare = decode.OddDC | decode.OddManufacturer | decode.OddOpcode
	return p.ICRC != decode.ICRCUnchecked && p.Odd&rare == 0
}

// byLIDs reports whether a packet has no address above the link's.
func byLIDs(p *decode.Packet) bool { return p.Status == decode.RoCE && p.Version == 0 && p.Proto == 0 }

// seenBy picks from a row of tshark's the addresses that the packet has, for a
// tunnel can have others of the other kind, and writes numbers in decimal.
func seenBy(p *decode.Packet, row []string) []string {
	if len(row) != len(tsharkFields) {
		return row
	}
	out := slices.Clone(row[:firstAddress])
	for i, text := range out {
		if v, err := strconv.ParseUint(text, 0, 32); err == nil {
			out[i] = fmt.Sprint(v)
		}
	}
	if p.Encap&decode.EncapVLAN != 0 && !p.Tagged { // the tag is an outer frame's
		out[4], out[5] = "", ""
	}
	if !hasICRC(p) {
		out[3] = ""
	}
	at := firstAddress
	switch {
	case byLIDs(p):
		at += 6
	case p.Proto == 0x1B:
		at += 4
	case p.IPv6:
		at += 2
	}
	return append(out, row[at:at+2]...)
}
