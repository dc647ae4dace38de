package main

import (
	"slices"
	"strings"
	"testing"
)

func TestEveryScenarioIsUnderstood(t *testing.T) {
	all, err := scenarios()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if !strings.HasPrefix(s.Name, "lab-") {
			t.Errorf("%s: samples of the lab begin with lab-", s.Name)
		}
		if !strings.HasSuffix(s.script(), "finish\n") {
			t.Errorf("%s: the script has no end:\n%s", s.Name, s.script())
		}
	}
}

func TestScenarioBecomesScript(t *testing.T) {
	all, err := parse("x", `
# A comment.
scenario loss
  about   something is lost
  net     bridge 3
  vlan    7
  mirror  s1:in s2:out to plain
  filter  src host 10.0.0.1
  tap     h1 s2:128 mirror
  sample  h1 s2 as pcapng.gz
  fault   s2 loss 4%
  before  wait 2s
  beside  rping 1>3 5
  run     verbs rc 1>2 write 5000, back send 10 with depth 4 tagged
`)
	if err != nil {
		t.Fatal(err)
	}
	want := `. ../lib.sh
start 4200
bridged 3
tagged 7
devices
mirror_port plain
hook s1:ingress
change s1 tc filter add dev s1 ingress matchall action mirred egress mirror dev mirror
hook s2:egress
change s2 tc filter add dev s2 egress matchall action mirred egress mirror dev mirror
change s2 tc qdisc replace dev s2 root netem loss 4%
begin
around sleep 2s
tap h1 0 nano 'src host 10.0.0.1'
tap s2 128 nano 'src host 10.0.0.1'
tap mirror 0 nano 'src host 10.0.0.1'
alongside ping_rdma 10.0.0.1 10.0.0.3 5
program verbs rc rxe1 rxe2 gid=$(gid 1 ffff:0a00:64) depth=4 write:5000 back:send:10
finish
`
	if got := all[0].script(); got != want {
		t.Errorf("the script is\n%s", got)
	}
}

func TestErrorsNameTheLine(t *testing.T) {
	const head = "scenario a\n about x\n tap h1\n"
	tests := []struct{ name, text, want string }{
		{"nothing begun", " tap h1", `x:1: "tap" stands before the first scenario`},
		{"no name", "scenario", "x:1: a scenario has one name"},
		{"bad name", "scenario A_b", "x:1: a scenario has one name"},
		{"same name twice", head + " run wait 1s\nscenario a", "x:5: there are two scenarios a"},
		{"unknown keyword", head + " tape h1", `x:4: there is no keyword "tape"`},
		{"no about", "scenario a\n tap h1\n run wait 1s", "x:3: scenario a does not say what it is about"},
		{"no tap", "scenario a\n about x\n run wait 1s\nscenario b", "x:4: scenario a has no tap"},
		{"no traffic", head, "x:3: scenario a runs nothing"},
		{"a network of one", head + " net bridge 1", `x:4: net: "1" is no number from 2 to 9`},
		{"an unknown network", head + " net ring", "x:4: net: say bridge"},
		{"a tag too large", head + " vlan 4095", `x:4: vlan: "4095" is no number`},
		{"a tap at no point", head + " tap h3", `x:4: tap: there is no point "h3"`},
		{"a tap twice", head + " tap h1", `x:4: tap: there is no point "h1" here, or it is tapped already`},
		{"an uplink of a bridge", head + " tap l1s1", `x:4: tap: there is no point "l1s1"`},
		{"a snap length of no number", head + " tap h2:all", `x:4: tap: "all" is no number`},
		{"a mirror that is not there", head + " tap mirror", `x:4: tap: there is no point "mirror"`},
		{"a collector of a plain mirror", head + " mirror s1:in to plain\n tap collector", `x:5: tap: there is no point "collector"`},
		{"a mirror to nowhere", head + " mirror s1:in", "x:4: mirror: say which ports"},
		{"a mirror of no port", head + " mirror s9:in to plain", `x:4: mirror: there is no port "s9"`},
		{"a third direction", head + " mirror s1:up to plain", `x:4: mirror: a port has an in and an out, no "up"`},
		{"a quote in a filter", head + " filter host '", "x:4: filter: say what to keep"},
		{"a sample of no tap", head + " sample h2 as pcap", `x:4: sample: "h2" is not tapped`},
		{"an unknown format", head + " sample h1 as text", "x:4: sample: say which taps"},
		{"two taps in one pcap", head + " tap h2\n sample h1 h2 as pcap", "x:5: sample: only a pcapng"},
		{"a fault at no port", head + " fault s3 loss 1%", `x:4: fault: there is no port "s3"`},
		{"an unknown fault", head + " fault s1 loss 1%, glare 3%", `x:4: fault: "glare 3%" is no fault`},
		{"a fault without words", head + " fault s1", "x:4: fault: say at which port, and what"},
		{"loss of what comes in", head + " fault s1:in loss 1%", `x:4: fault: "loss 1%" is only for what leaves`},
		{"counted drops of what leaves", head + " fault s1 drop every 3", "x:4: fault: \"drop every 3\" is not for this direction"},
		{"an unknown program", head + " run iperf 1>2", "x:4: run: say what"},
		{"a host that is not there", head + " run verbs rc 1>3 write 1", `x:4: run: verbs: "1>3" names no two hosts`},
		{"a host that talks to itself", head + " run verbs rc 1>1 write 1", `x:4: run: verbs: "1>1" names no two hosts`},
		{"an unknown transport", head + " run verbs xrc 1>2 write 1", "x:4: run: verbs: say rc, uc or ud"},
		{"an unknown operation", head + " run verbs rc 1>2 write 1, wipe 3", `x:4: run: verbs: "wipe 3" is no operation`},
		{"a length of no number", head + " run verbs rc 1>2 write 1k", `x:4: run: verbs: "write 1k": "1k" is no number`},
		{"an unknown option", head + " run verbs rc 1>2 write 1 with speed 3", `x:4: run: verbs: "speed 3" is no option`},
		{"a tag behind routers", head + " net leafspine\n vlan 7\n run wait 1s", "x:6: scenario a has a vlan"},
		{"IPv6 behind routers", head + " net leafspine\n run verbs rc 1>3 write 1 with ipv6", `x:5: run: verbs: "ipv6" is no option`},
		{"tagged without a tag", head + " run verbs rc 1>2 write 1 with tagged", `x:4: run: verbs: "tagged" is no option`},
		{"a shell in perftest", head + " run perftest ib_write_bw 1>2 -n $(x)", `x:4: run: perftest: "$(x)" has signs`},
		{"a tool that is none", head + " run perftest rm 1>2", "x:4: run: perftest: say a tool"},
		{"rping without a count", head + " run rping 1>2", "x:4: run: rping: say two hosts"},
		{"nvme without sizes", head + " run nvme 1>2 8", "x:4: run: nvme: say two hosts"},
		{"a wait in no unit", head + " run wait 5", "x:4: run: wait: say how long"},
	}
	for _, test := range tests {
		_, err := parse("x", test.text)
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: the error is %v, want one that begins with %q", test.name, err, test.want)
		}
	}
}

func TestPathsOfALeafspine(t *testing.T) {
	n := network{LeafSpine: true, Hosts: 4}
	got := n.path(1, 3)
	want := [][]string{{"h1"}, {"s1"}, {"l1s1", "l1s2"}, {"p1l1", "p2l1"}, {"p1l2", "p2l2"}, {"l2s1", "l2s2"}, {"s3"}, {"h3"}}
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("from 1 to 3 it goes %v", got)
	}
	if got := n.path(1, 2); len(got) != 4 {
		t.Errorf("hosts of one leaf reach each other by %v", got)
	}
}

func TestNamedScenarios(t *testing.T) {
	if got, err := named([]string{"lab-rnr"}); err != nil || len(got) != 1 || got[0].Name != "lab-rnr" {
		t.Errorf("one is asked for, and there are %v (%v)", got, err)
	}
	if _, err := named([]string{"lab-nothing"}); err == nil {
		t.Error("a scenario that is not there is no error")
	}
}

func TestExtensions(t *testing.T) {
	for format, want := range map[string]string{"pcap": ".pcap", "pcap-ns.gz": ".pcap.gz", "pcapng": ".pcapng", "pcapng.gz": ".pcapng.gz"} {
		if got := (sample{Format: format}).extension(); got != want {
			t.Errorf("%s ends with %s", format, got)
		}
	}
}
