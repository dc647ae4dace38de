package main

import (
	"slices"
	"testing"
)

func TestFaultsInWordsOfTC(t *testing.T) {
	const queue = "change s2 tc qdisc replace dev s2 root "
	tests := []struct {
		words string
		in    bool
		want  []string
	}{
		{"loss 4%", false, []string{queue + "netem loss 4%"}},
		{"loss in bursts 1% ended 40%", false, []string{queue + "netem loss gemodel 1% 40% 100% 0%"}},
		{"mark 0.5%", false, []string{queue + "netem loss 0.5% ecn"}},
		{"delay 1ms jitter 0.5ms, duplicate 2%, corrupt 1%", false, []string{queue + "netem delay 1ms 0.5ms duplicate 2% corrupt 1%"}},
		{"delay 3ms overtaken by 5%", false, []string{queue + "netem delay 3ms reorder 5%"}},
		{"rate 8mbit queue 20kb", false, []string{queue + "tbf rate 8mbit burst 5kb limit 20kb"}},
		{"rate 8mbit queue 200kb mark from 10kb to 40kb", false, []string{
			queue + "handle 1: tbf rate 8mbit burst 5kb limit 200kb",
			"change s2 tc qdisc add dev s2 parent 1:1 handle 10: red limit 200kb min 10kb max 40kb avpkt 1000 burst 20 probability 0.3 bandwidth 8mbit ecn",
		}},
		{"drop every 40", true, []string{"hook s2:ingress", "change s2 tc filter add dev s2 ingress matchall action pass random determ drop 40"}},
		{"blackout after 1s for 0.5s", false, []string{
			queue + "netem loss 0%",
			"(sleep 1s; " + queue + "netem loss 100%; sleep 0.5s; " + queue + "netem loss 0%) &",
		}},
	}
	for _, test := range tests {
		f, err := newFault(hook{"s2", test.in}, test.words)
		if got := slices.Concat(f.Setup, f.Live); err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s: %q (%v), want %q", test.words, got, err, test.want)
		}
	}
}
