package analysis_test

import (
	"bytes"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// tsharksAtOnce bounds how many instances of tshark run side by side.
const tsharksAtOnce = 2

// atomicAck is the opcode of an ATOMIC Acknowledge as tshark prints it.
var atomicAck = fmt.Sprint(uint8(ib.Of(ib.RC, ib.AtomicAcknowledge)))

// TestOpcodesAndSyndromesEqualThoseOfTshark compares how often each opcode
// occurs, and with which AETH syndrome: ACKs and NAKs of each kind.
func TestOpcodesAndSyndromesEqualThoseOfTshark(t *testing.T) {
	if testing.Short() {
		t.Skip("tshark takes its time")
	}
	tshark, err := exec.LookPath("tshark")
	if err != nil {
		t.Skip("tshark is not installed")
	}
	turn := make(chan bool, tsharksAtOnce)
	for _, path := range glob(t, softroce, "*.pcap") {
		name := filepath.Base(path)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turn <- true
			defer func() { <-turn }()
			want, got := tsharkOpcodes(t, tshark, path), ourOpcodes(t, path)
			if len(want) == 0 {
				t.Error("tshark sees no RoCE")
			}
			if strings.Contains(name, ".s64.") { // which cuts the headers of an ATOMIC Acknowledge behind its AETH
				want[atomicAck] = want[atomicAck+" 31"]
				delete(want, atomicAck+" 31")
			}
			if !maps.Equal(got, want) {
				t.Errorf("opcode and syndrome, each with its count:\n%v\ntshark:\n%v", got, want)
			}
		})
	}
}

// tsharkOpcodes counts the pairs of opcode and syndrome as tshark prints them.
func tsharkOpcodes(t *testing.T, tshark, path string) map[string]int {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), tshark, "-n", "-r", path, "--disable-protocol", "rpcordma", "-Y", "infiniband && !icmp", // an ICMP error quotes what it answers
		"-T", "fields", "-E", "separator=/s", "-E", "occurrence=f", "-e", "infiniband.bth.opcode", "-e", "infiniband.aeth.syndrome")
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, complaint.String())
	}
	counts := map[string]int{}
	for line := range strings.Lines(string(out)) {
		counts[strings.TrimSpace(line)]++
	}
	return counts
}

// ourOpcodes counts the same pairs as the analyzers get to see them.
func ourOpcodes(t *testing.T, path string) map[string]int {
	t.Helper()
	counts := map[string]int{}
	cfg := oneWorker()
	cfg.Tap = func(b *analysis.Batch) {
		for i := range b.Packets {
			switch p := &b.Packets[i]; {
			case p.Status != decode.RoCE:
			case p.HasExt && p.Op.Info().Headers&ib.HasAETH != 0:
				counts[fmt.Sprintf("%d %d", uint8(p.Op), uint8(p.Syndrome))]++
			default:
				counts[fmt.Sprint(uint8(p.Op))]++
			}
		}
	}
	run(t, open(t, path), cfg)
	return counts
}
