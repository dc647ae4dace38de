package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// counters reads lines "DEVICE NAME VALUE".
func counters(data []byte) map[string]map[string]int {
	out := map[string]map[string]int{}
	for line := range strings.Lines(string(data)) {
		w := strings.Fields(line)
		if len(w) != 3 {
			continue
		}
		if out[w[0]] == nil {
			out[w[0]] = map[string]int{}
		}
		out[w[0]][w[1]], _ = strconv.Atoi(w[2])
	}
	return out
}

// rxe is by how much each counter of each RDMA device rose; those that did not
// are left out.
func (r *recording) rxe() (map[string]map[string]int, error) {
	before, err := os.ReadFile(filepath.Join(r.dir, "counters.before"))
	if err != nil {
		return nil, err
	}
	after, err := os.ReadFile(filepath.Join(r.dir, "counters.after"))
	if err != nil {
		return nil, err
	}
	return rose(counters(before), counters(after)), nil
}

func rose(old, now map[string]map[string]int) map[string]map[string]int {
	for device, values := range now {
		for name, v := range values {
			if v -= old[device][name]; v == 0 {
				delete(values, name)
			} else {
				values[name] = v
			}
		}
	}
	return now
}

var tcpdumpCounts = regexp.MustCompile(`(?s)(\d+) packets? captured.*?(\d+) packets? dropped by kernel`)

// tcpdumpSaid finds how many packets tcpdump captured, and how many the kernel
// dropped before it.
func tcpdumpSaid(text string) (captured, dropped int, err error) {
	m := tcpdumpCounts.FindStringSubmatch(text)
	if m == nil {
		return 0, 0, fmt.Errorf("tcpdump said no numbers, but: %s", text)
	}
	captured, _ = strconv.Atoi(m[1])
	dropped, _ = strconv.Atoi(m[2])
	return captured, dropped, nil
}
