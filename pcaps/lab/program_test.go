package main

import (
	"slices"
	"strings"
	"testing"
)

func TestTheTrafficProgramKnowsEveryWord(t *testing.T) {
	source, err := guest.ReadFile("guest/traffic.c")
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range slices.Concat(operations, numbered) {
		if !strings.Contains(string(source), `"`+word+`"`) {
			t.Errorf("guest/traffic.c does not know %q", word)
		}
	}
}

func TestProgramsInWordsOfTheGuest(t *testing.T) {
	tests := []struct{ words, want string }{
		{"verbs rc 1>2 write 5000, back read 10, add", "verbs rc rxe1 rxe2 gid=$(gid 1 ffff:0a00:00) write:5000 back:read:10 add"},
		{"verbs ud 2>1 send 10 with ipv6 psn 0xfffff0", "verbs ud rxe2 rxe1 gid=$(gid 2 fd00:) psn=0xfffff0 send:10"},
		{"verbs uc 1>2 send 10 with tagged ipv6", "verbs uc rxe1 rxe2 gid=$(gid 1 fd64:) send:10"},
		{"perftest ib_write_bw 1>2 -n 5", "perftest ib_write_bw 2 1 -n 5"},
		{"perftest ib_send_bw 1>2 cm -q 2", "perftest_cm ib_send_bw 2 1 -q 2"},
		{"rping 1>2 5", "ping_rdma 10.0.0.1 10.0.0.2 5"},
		{"rping 1>2 5 ipv6", "ping_rdma fd00::1 fd00::2 5"},
		{"nvme 1>2 8 of 4096", "nvme 1 2 4096 8"},
		{"wait 1.5s", "sleep 1.5s"},
	}
	for _, test := range tests {
		s := &scenario{Net: network{Hosts: 2}, VLAN: 7}
		err := s.addProgram(append([]string{"run"}, strings.Fields(test.words)...))
		if err != nil || s.Runs[0].Line != test.want {
			t.Errorf("%s: %+v (%v), want %q", test.words, s.Runs, err, test.want)
		}
	}
}
