package counters

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/analysis/report"
)

// told is what a dump says, a line a counter.
func told(d *Dumps) string {
	var b strings.Builder
	for _, dev := range d.Devices() {
		for _, c := range dev.Counters {
			value := fmt.Sprintf("%d→%d", c.Before, c.After)
			switch c.Reads {
			case first:
				value = fmt.Sprint(c.Before)
			case second:
				value = fmt.Sprintf("→%d", c.After)
			}
			fmt.Fprintf(&b, "%s|%s|%s %s\n", strings.Join(dev.Hosts, "+"), dev.Name, c.Name, value)
		}
	}
	return b.String()
}

func TestDumps(t *testing.T) {
	for _, test := range []struct {
		desc  string
		files []string
		want  string
	}{
		{"ethtool twice", []string{"NIC statistics:\n     rx_packets: 5\n     [0]: rx_bytes: 6\nNIC statistics:\n     rx_packets: 7\n     [0]: rx_bytes: 9\n"},
			"||rx_packets 5→7\n||[0]: rx_bytes 6→9\n"},
		{"rdma statistic, two links", []string{"link mlx5_0/1 a 1 b 2 \nlink mlx5_1/1 a 3 b 4\n\nlink mlx5_0/1 a 5 b 6\n"},
			"|mlx5_0/1|a 1→5\n|mlx5_0/1|b 2→6\n|mlx5_1/1|a 3\n|mlx5_1/1|b 4\n"},
		{"rdma statistic -p", []string{"link rxe0/1\n    a 1\n    b 2\n"}, "|rxe0/1|a 1\n|rxe0/1|b 2\n"},
		{"rdma -j statistic", []string{`[{"ifindex":0,"ifname":"mlx5_0","port":1,"a":1,"b":18446744073709551615}]` + "\n" + `[{"ifname":"mlx5_0","port":1,"a":2}]`},
			"|mlx5_0/1|a 1→2\n|mlx5_0/1|b 18446744073709551615\n"},
		{"rdma -jp statistic", []string{"[ {\n  \"ifname\": \"m\",\n  \"port\": 1,\n  \"a\": 1\n } ]\n# host x\nb 2\n"}, "|m/1|a 1\nx||b 2\n"},
		{"grep on sysfs", []string{"/sys/class/infiniband/mlx5_0/ports/1/hw_counters/a:1\n/sys/class/net/eth0/statistics/b:2\nhw_counters/c:3\n"},
			"|mlx5_0/1|a 1\n|eth0|b 2\n||c 3\n"},
		{"plain lines of all kinds", []string{"a 1\r\nb: 2\nc = 3\n# a remark\n$ cat /dev/null\n"}, "||a 1\n||b 2\n||c 3\n"},
		{"dashes, and hosts one behind the other", []string{"# host 10.0.0.1\na 1\n---\na 2\n# host 10.0.0.2\na 3\n======\na 4\n"},
			"10.0.0.1||a 1→2\n10.0.0.2||a 3→4\n"},
		{"dashes between two readings of all hosts", []string{"# host x\na 1\n# host y\na 2\n---\n# host x\na 3\n# host y\na 4\n"}, "x||a 1→3\ny||a 2→4\n"},
		{"words, and a counter that came to be", []string{"# before\na 1\n# after\na 2\nb 3\n"}, "||a 1→2\n||b →3\n"},
		{"hosts after the word", []string{"# before\n# host x\na 1\n# after\n# host x\na 2\n"}, "x||a 1→2\n"},
		{"a file before and a file after", []string{"a 1\nb 2\n", "a 1\nb 4\n"}, "||a 1→1\n||b 2→4\n"},
		{"addresses of one adapter", []string{"# host 10.0.0.1, fe80::1\na 1\n"}, "10.0.0.1+fe80::1||a 1\n"},
	} {
		t.Run(test.desc, func(t *testing.T) {
			var d Dumps
			for _, text := range test.files {
				if err := d.Read("dump", strings.NewReader(text)); err != nil {
					t.Fatal(err)
				}
			}
			if got := told(&d); got != test.want {
				t.Errorf("read\n%swant\n%s", got, test.want)
			}
		})
	}
}

func TestDumpsThatMakeNoSense(t *testing.T) {
	for _, test := range []struct {
		desc, text string
		line       int // 0: the error names none
		want       string
	}{
		{"nothing", "", 0, "holds no counter"},
		{"remarks only", "# host 10.0.0.1\n\n---\n", 0, "holds no counter"},
		{"prose", "a 1\nthe counters of my host\n", 2, "it is no counter"},
		{"a negative number", "a: 1\nb: -3\n", 2, "b is -3, and counters are never negative"},
		{"a number too large", "a 18446744073709551616\n", 1, "no counter of 64 bits"},
		{"a fraction", "a 1.5\n", 1, "\"1.5\", which is no whole number"},
		{"a word without a value", "link m/1 a 1 b\n", 1, "b has no value"},
		{"a third reading", "a 1\na 2\n\na 3\n", 4, "a is read a third time"},
		{"no host", "# host\na 1\n", 1, "no host is named"},
		{"broken JSON", "a 1\n[{\"a\": 1,\n", 2, "it begins like JSON, but"},
		{"JSON of something else", "[{\"a\": {\"b\": 1}}]\n", 1, "no whole number"},
		{"a capture", "\xd4\xc3\xb2\xa1\x02\x00\x04\x00" + strings.Repeat("\x00", 5000), 1, "too long"},
		{"a long name", strings.Repeat("a", 300) + " 1\n", 1, "it names no counter"},
	} {
		t.Run(test.desc, func(t *testing.T) {
			err := new(Dumps).Read("dump", strings.NewReader(test.text))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("the error is %v, want one of %q", err, test.want)
			}
			var at *LineError
			if errors.As(err, &at); test.line > 0 && (at == nil || at.Line != test.line) {
				t.Errorf("the error is %v, want one of line %d", err, test.line)
			}
		})
	}
}

func TestDumpsAreBounded(t *testing.T) {
	err := new(Dumps).Read("dump", strings.NewReader(strings.Repeat("a 1\n", largest/4+1)))
	if err == nil || !strings.Contains(err.Error(), "larger than 16 MiB") {
		t.Errorf("the error is %v", err)
	}
}

func FuzzDumps(f *testing.F) {
	f.Add("link mlx5_0/1 a 1 b 2\n---\n# host x\n[{\"a\":1}]\n")
	f.Add("/sys/class/infiniband/m/ports/1/hw_counters/out_of_sequence:0\nNIC statistics:\n [0]: a: 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		var d Dumps
		if err := d.Read("dump", strings.NewReader(text)); err != nil {
			return
		}
		for _, dev := range d.Devices() {
			for _, c := range dev.Counters {
				if c.Name == "" || c.Reads == 0 {
					t.Errorf("there is a counter %+v", c)
				}
			}
		}
		if _, err := Compare(Expect(pair(report.Flow{}, report.Flow{})), d.Devices()); err == nil && len(d.Devices()) == 0 {
			t.Error("no device was read, and no error")
		}
	})
}
