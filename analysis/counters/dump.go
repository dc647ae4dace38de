package counters

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Dumps collects what files with readings of counters say. The zero value is
// ready.
//
// A file holds, in any mixture, what ethtool -S, rdma statistic (with -j and -p,
// too) and grep . …/hw_counters/* print, or plain lines "name value". A line
//
//	# host 10.0.0.2
//
// says whose the lines below are; more addresses of the same adapter may follow
// the first. A second reading of a device begins where a counter comes again, at
// a line of dashes, or at a line "# after".
type Dumps struct {
	list []*Device
}

// Device is what the readings say of one device.
type Device struct {
	Hosts    []string // as a line "# host" gives them; empty where none does
	Name     string   // as mlx5_0/1 or eth0; empty where the dump does not say
	Counters []Rise   // in the order of the file
	at       map[string]int
	again    bool // the second reading has begun
	place    string
}

// Rise is one counter of a device, read once or twice.
type Rise struct {
	Name          string
	Before, After uint64
	Reads         reads
}

// reads tells which readings hold a counter.
type reads uint8

const (
	first reads = 1 << iota
	second
)

// largest is how long a file may be; a reading takes a few kilobytes.
const largest = 16 << 20

// LineError says what is wrong with a line.
type LineError struct {
	File string
	Line int // from 1
	What string
}

func (e *LineError) Error() string { return fmt.Sprintf("%s, line %d: %s", e.File, e.Line, e.What) }

// Read adds a file. An error names the line it is about.
func (d *Dumps) Read(name string, r io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(r, largest+1))
	if err != nil {
		return err
	}
	if len(text) > largest {
		return fmt.Errorf("%s is larger than %d MiB, and no dump of counters", name, largest>>20)
	}
	f := &file{dumps: d, name: name}
	before := d.readings()
	for len(text) > 0 {
		rest, err := f.next(text)
		if err != nil {
			return &LineError{name, f.line, err.Error()}
		}
		text = rest
	}
	if d.readings() == before {
		return fmt.Errorf("%s holds no counter", name)
	}
	return nil
}

func (d *Dumps) readings() (n int) {
	for _, dev := range d.list {
		for _, c := range dev.Counters {
			n += int(c.Reads&first) + int(c.Reads&second)>>1
		}
	}
	return n
}

// Devices returns what was read, in the order of the files.
func (d *Dumps) Devices() []*Device { return d.list }

// file is a file that is being read.
type file struct {
	dumps  *Dumps
	name   string
	line   int
	hosts  []string
	device string
	after  bool // a second reading was announced
	dashes bool // by a line of dashes
}

// next reads the line, or the JSON value, that text begins with.
func (f *file) next(text []byte) (rest []byte, err error) {
	f.line++
	raw, rest, _ := bytes.Cut(text, []byte("\n"))
	line := strings.TrimSpace(string(raw))
	if len(line) > 4096 && line[0] != '[' && line[0] != '{' && !strings.HasPrefix(line, "link ") {
		return nil, errors.New("it is too long for a counter")
	}
	switch {
	case line == "" || strings.HasPrefix(line, "$"):
		return rest, nil
	case len(line) >= 3 && strings.Trim(line, "-=") == "":
		return rest, f.separator()
	case strings.HasPrefix(line, "#"):
		return rest, f.comment(strings.Fields(line[1:]))
	case line[0] == '{' || jsonArray(line):
		return f.json(text)
	}
	return rest, f.counters(line)
}

// separator ends the first reading.
func (f *file) separator() error {
	if len(f.dumps.list) > 0 {
		f.after, f.dashes = true, true
	}
	return nil
}

// comment takes the lines that say whose and when a reading is.
func (f *file) comment(words []string) error {
	switch {
	case len(words) == 0:
	case words[0] == "host" || words[0] == "host:":
		if len(words) == 1 {
			return errors.New("no host is named")
		}
		return f.host(words[1:])
	case len(words) == 1 && words[0] == "before":
		f.after = false
	case len(words) == 1 && words[0] == "after":
		f.after, f.dashes = true, false
	}
	return nil
}

// host begins the lines of a host. One that has not been read yet begins with
// its first reading, unless "# after" came before it.
func (f *file) host(addrs []string) error {
	for i, a := range addrs {
		addrs[i] = strings.Trim(a, ",")
	}
	f.hosts, f.device = addrs, ""
	known := slices.ContainsFunc(f.dumps.list, func(d *Device) bool { return slices.Equal(d.Hosts, addrs) })
	if f.dashes && !known {
		f.after, f.dashes = false, false
	}
	return nil
}

// add takes one counter.
func (f *file) add(name, value string) error {
	v, err := parseCount(name, value)
	if err != nil {
		return err
	}
	d := f.dumps.device(f.hosts, f.device)
	d.place = cmp.Or(d.place, fmt.Sprintf("%s, line %d", f.name, f.line))
	i, known := d.at[name]
	if f.after || known && d.Counters[i].Reads&first != 0 {
		d.again = true
	}
	if !known {
		i = len(d.Counters)
		d.at[name] = i
		d.Counters = append(d.Counters, Rise{Name: name})
	}
	c := &d.Counters[i]
	if d.again {
		if c.Reads&second != 0 {
			return fmt.Errorf("%s is read a third time%s; two readings are compared", name, d.called())
		}
		c.After, c.Reads = v, c.Reads|second
		return nil
	}
	c.Before, c.Reads = v, c.Reads|first
	return nil
}

func (d *Device) called() string {
	if d.Name == "" {
		return ""
	}
	return " for " + d.Name
}

func (d *Dumps) device(hosts []string, name string) *Device {
	for _, dev := range slices.Backward(d.list) {
		if dev.Name == name && slices.Equal(dev.Hosts, hosts) {
			return dev
		}
	}
	dev := &Device{Hosts: slices.Clone(hosts), Name: name, at: map[string]int{}}
	d.list = append(d.list, dev)
	return dev
}
