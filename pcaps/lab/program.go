package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// programs are what can run, each with what makes a line of the guest's script
// of the words behind its name.
var programs = map[string]func(*scenario, []string) (string, error){
	"verbs":    (*scenario).verbs,
	"perftest": (*scenario).perftest,
	"rping":    (*scenario).rping,
	"nvme":     (*scenario).nvme,
	"wait":     (*scenario).wait,
}

// addProgram understands "run", "beside" and "before", a program's name and
// what that wants.
func (s *scenario) addProgram(w []string) error {
	if len(w) < 2 || programs[w[1]] == nil {
		return fmt.Errorf("say what: verbs, perftest, rping, nvme or wait")
	}
	line, err := programs[w[1]](s, w[2:])
	if err != nil {
		return fmt.Errorf("%s: %w", w[1], err)
	}
	s.Runs = append(s.Runs, program{When: w[0], Line: line})
	return nil
}

// pair understands "1>2": from host 1 to host 2.
func (s *scenario) pair(word string) (from, to int, err error) {
	a, b, _ := strings.Cut(word, ">")
	from, err1 := number([]string{"", a}, 1, s.Net.Hosts)
	to, err2 := number([]string{"", b}, 1, s.Net.Hosts)
	if err1 != nil || err2 != nil || from == to {
		return 0, 0, fmt.Errorf("%q names no two hosts, as 1>2 does", word)
	}
	return from, to, nil
}

// The operations and options of the traffic program.
var (
	operations = []string{"write", "write-imm", "read", "send", "send-imm", "send-solicited", "add", "swap",
		"write-wrong-key", "read-wrong-key", "write-outside", "write-closed", "pause", "receive", "break", "destroy"}
	numbered = []string{"mtu", "qps", "depth", "repeat", "psn", "back-psn", "timeout", "retry", "rnr", "rnr-timer",
		"reads", "tclass", "flow", "gap", "receives", "receive-size", "access", "unconnected", "patience"}
)

// verbs understands "TYPE A>B OPERATION NUMBER, ... with OPTION NUMBER ...".
// The options ipv6 and tagged choose addresses, and have no number.
func (s *scenario) verbs(w []string) (string, error) {
	if len(w) < 3 || !slices.Contains([]string{"rc", "uc", "ud"}, w[0]) {
		return "", fmt.Errorf("say rc, uc or ud, two hosts, and operations")
	}
	from, to, err := s.pair(w[1])
	if err != nil {
		return "", err
	}
	todo, with, _ := strings.Cut(strings.Join(w[2:], " "), " with ")
	ops, err := operationArgs(todo)
	if err != nil {
		return "", err
	}
	opts, part, err := s.optionArgs(strings.Fields(with))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("verbs %s rxe%d rxe%d gid=$(gid %[2]d %[4]s)%s%s", w[0], from, to, part, opts, ops), nil
}

func operationArgs(text string) (string, error) {
	out := ""
	for part := range strings.SplitSeq(text, ", ") {
		w := strings.Fields(part)
		prefix := " "
		if len(w) > 0 && w[0] == "back" {
			prefix, w = " back:", w[1:]
		}
		if len(w) == 0 || len(w) > 2 || !slices.Contains(operations, w[0]) {
			return "", fmt.Errorf("%q is no operation; there are %s", part, strings.Join(operations, ", "))
		}
		if len(w) == 2 && !isNumber(w[1]) {
			return "", fmt.Errorf("%q: %q is no number", part, w[1])
		}
		out += prefix + strings.Join(w, ":")
	}
	return out, nil
}

func isNumber(s string) bool {
	_, err := strconv.ParseUint(s, 0, 32)
	return err == nil
}

// optionArgs also returns a part of the address that the hosts shall use.
func (s *scenario) optionArgs(w []string) (out, address string, err error) {
	v6, tagged := false, false
	for len(w) > 0 {
		switch {
		case w[0] == "ipv6" && !s.Net.LeafSpine:
			v6, w = true, w[1:]
		case w[0] == "tagged" && s.VLAN != 0:
			tagged, w = true, w[1:]
		case len(w) > 1 && slices.Contains(numbered, w[0]) && isNumber(w[1]):
			out, w = out+" "+w[0]+"="+w[1], w[2:]
		default:
			return "", "", fmt.Errorf("%q is no option with its number; there are ipv6 (with a bridge), tagged (with a vlan), %s", strings.Join(w[:min(2, len(w))], " "), strings.Join(numbered, ", "))
		}
	}
	return out, addressPart(v6, tagged), nil
}

// addressPart is what the wanted address has and no other of a device.
func addressPart(v6, tagged bool) string {
	switch {
	case v6 && tagged:
		return "fd64:"
	case v6:
		return "fd00:"
	case tagged:
		return "ffff:0a00:64"
	}
	return "ffff:0a00:00"
}

var harmless = regexp.MustCompile(`^[-\w.=]+$`)

// perftest understands "TOOL A>B [cm] ARGUMENT...": A is the client.
func (s *scenario) perftest(w []string) (string, error) {
	if len(w) < 2 || !strings.HasPrefix(w[0], "ib_") {
		return "", fmt.Errorf("say a tool, as ib_write_bw, and two hosts")
	}
	client, server, err := s.pair(w[1])
	if err != nil {
		return "", err
	}
	name, args := "perftest", w[2:]
	if len(args) > 0 && args[0] == "cm" {
		name, args = "perftest_cm", args[1:]
	}
	for _, a := range append([]string{w[0]}, args...) {
		if !harmless.MatchString(a) {
			return "", fmt.Errorf("%q has signs that do not belong there", a)
		}
	}
	return strings.Join(append([]string{name, w[0], strconv.Itoa(server), strconv.Itoa(client)}, args...), " "), nil
}

// rping understands "A>B COUNT [ipv6]".
func (s *scenario) rping(w []string) (string, error) {
	if len(w) < 2 || !isNumber(w[1]) || len(w) > 3 || len(w) == 3 && (w[2] != "ipv6" || s.Net.LeafSpine) {
		return "", fmt.Errorf("say two hosts, how often, and ipv6 if so and the network is a bridge")
	}
	client, server, err := s.pair(w[0])
	if err != nil {
		return "", err
	}
	format := "ping_rdma 10.0.0.%d 10.0.0.%d %s"
	if len(w) == 3 {
		format = "ping_rdma fd00::%d fd00::%d %s"
	}
	return fmt.Sprintf(format, client, server, w[1]), nil
}

// nvme understands "A>B COUNT of BYTES": A writes to the disk of B and reads.
func (s *scenario) nvme(w []string) (string, error) {
	if len(w) != 4 || !isNumber(w[1]) || w[2] != "of" || !isNumber(w[3]) {
		return "", fmt.Errorf("say two hosts, and then how many blocks of how many bytes, as 16 of 4096")
	}
	client, server, err := s.pair(w[0])
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("nvme %d %d %s %s", client, server, w[3], w[1]), nil
}

// wait understands a number of seconds.
func (s *scenario) wait(w []string) (string, error) {
	if len(w) != 1 || !words(seconds).MatchString(w[0]) {
		return "", fmt.Errorf("say how long, as 1.5s")
	}
	return "sleep " + w[0], nil
}
