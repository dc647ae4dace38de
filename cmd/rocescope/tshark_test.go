package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestFieldsAreThoseOfTshark holds the table of fields against tshark: where
// tshark has a value for a frame, ours is the same.
func TestFieldsAreThoseOfTshark(t *testing.T) {
	tshark, err := exec.LookPath("tshark")
	if err != nil {
		t.Skip("tshark is not installed")
	}
	// tshark has no such fields.
	own := []string{"infiniband.bth.fecn", "infiniband.bth.becn", "roce.analysis.flags"}
	args := []string{"-T", "fields"}
	var names []string
	for _, name := range fieldNames() {
		if !slices.Contains(own, name) {
			names = append(names, name)
			args = append(args, "-e", name)
		}
	}
	files, err := filepath.Glob("../../pcaps/*.pcap*")
	if err != nil || len(files) == 0 {
		t.Fatal("there are no samples: ", err)
	}
	for _, file := range []string{"public/connectx4lx-cnp-and-rocev1.pcap", "public/ipv6-ack-rnr-all-nak-codes.pcap",
		"softroce/loss_post.h2.pcap", "softroce/ipv6.h1.pcap", "softroce/clean_ud.h1.pcap", "softroce/rping.h1.pcap", "softroce/vlan.h1.pcap"} {
		files = append(files, filepath.Join(recorded, file))
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			if _, err := os.Stat(file); err != nil {
				t.Skip("the recorded captures are not here")
			}
			want, err := exec.Command(tshark, append([]string{"-n", "-r", file}, args...)...).Output()
			if err != nil {
				t.Fatal(err)
			}
			var got, stderr bytes.Buffer
			if code := run(context.Background(), append([]string{"packets", file}, args...), nil, &got, &stderr); code != exitRan {
				t.Fatal(&stderr)
			}
			compareFields(t, names, strings.Split(string(want), "\n"), strings.Split(got.String(), "\n"))
		})
	}
}

func compareFields(t *testing.T, names, want, got []string) {
	t.Helper()
	if len(want) != len(got) {
		t.Fatalf("tshark has %d frames, and here are %d", len(want)-1, len(got)-1)
	}
	compared, least := 0, 0
	opcode := slices.Index(names, "infiniband.bth.opcode")
	for i := range want {
		w, g := strings.Split(want[i], "\t"), strings.Split(got[i], "\t")
		if least += 4; opcode < len(w) && w[opcode] != "" { // a pause has little to say
			least += 6
		}
		for j := range w {
			// tshark gives a field that stands in two trees twice.
			v, again, _ := strings.Cut(w[j], ",")
			if v == "" || again != "" && again != v {
				continue
			}
			compared++
			if g[j] != v {
				t.Errorf("frame %d: %s is %q, and %q for tshark", i+1, names[j], g[j], v)
			}
		}
	}
	if compared < least {
		t.Errorf("only %d values of %d frames could be compared", compared, len(want)-1)
	}
}
