package counters

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// counters reads a line of text in one of the shapes that programs print.
func (f *file) counters(line string) error {
	if words := strings.Fields(line); words[0] == "link" && len(words) > 1 {
		f.device = words[1] // rdma statistic show link
		return f.pairs(words[2:])
	}
	name, value, found := cutLast(line, ':')
	if !found {
		name, value, found = strings.Cut(line, "=")
	}
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	switch {
	case found && value == "":
		f.device = "" // the title of ethtool: NIC statistics:
		return nil
	case found && strings.Contains(name, "/"):
		return f.path(name, value)
	case found:
		return f.add(name, value)
	}
	words := strings.Fields(line)
	if len(words)%2 != 0 || len(words) > 2 && !isCount(words[1]) {
		return errors.New("it is no counter: wanted are lines like \"out_of_sequence 12\" or \"out_of_sequence: 12\"")
	}
	return f.pairs(words)
}

func cutLast(s string, sep byte) (before, after string, found bool) {
	if i := strings.LastIndexByte(s, sep); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

// pairs reads names and values by turns.
func (f *file) pairs(words []string) error {
	if len(words)%2 != 0 {
		return fmt.Errorf("%s has no value", words[len(words)-1])
	}
	for i := 0; i < len(words); i += 2 {
		if err := f.add(words[i], words[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// path reads a file of sysfs with its name before it, as grep prints it.
func (f *file) path(name, value string) error {
	f.device = ""
	parts := strings.Split(path.Clean(name), "/")
	for i, p := range parts {
		switch {
		case p == "infiniband" && i+3 < len(parts) && parts[i+2] == "ports":
			f.device = parts[i+1] + "/" + parts[i+3]
		case p == "net" && i+1 < len(parts)-1:
			f.device = parts[i+1]
		}
	}
	return f.add(parts[len(parts)-1], value)
}

func isCount(s string) bool {
	_, err := strconv.ParseUint(s, 10, 64)
	return err == nil
}

// parseCount reads a counter's value, and says what is wrong with it.
func parseCount(name, value string) (uint64, error) {
	if name == "" || len(name) > 256 {
		return 0, errors.New("it names no counter")
	}
	v, err := strconv.ParseUint(value, 10, 64)
	switch {
	case err == nil:
		return v, nil
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("%s is %s, which no counter of 64 bits can be", short(name), short(value))
	case strings.HasPrefix(value, "-"):
		return 0, fmt.Errorf("%s is %s, and counters are never negative", short(name), short(value))
	}
	return 0, fmt.Errorf("the value of %s is %q, which is no whole number", short(name), short(value))
}

// short cuts what a message quotes.
func short(s string) string {
	if len(s) > 40 {
		return strings.ToValidUTF8(s[:40], "") + "…"
	}
	return s
}

// jsonArray tells an array from a queue's number, as in "[0]: rx_packets: 1".
func jsonArray(line string) bool {
	rest, ok := strings.CutPrefix(line, "[")
	if !ok {
		return false
	}
	rest = strings.TrimSpace(rest)
	return rest == "" || rest[0] == '{' || rest == "]"
}

// link is an object that rdma -j statistic prints: names of a link, and counters.
type link map[string]json.RawMessage

// json reads the value that text begins with.
func (f *file) json(text []byte) (rest []byte, err error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	var links []link
	if text[bytes.IndexAny(text, "[{")] == '{' {
		links = make([]link, 1)
		err = dec.Decode(&links[0])
	} else {
		err = dec.Decode(&links)
	}
	if err != nil {
		return nil, fmt.Errorf("it begins like JSON, but: %w", err)
	}
	for _, l := range links {
		if err := f.link(l); err != nil {
			return nil, err
		}
	}
	end := int(dec.InputOffset())
	f.line += bytes.Count(text[:end], []byte("\n"))
	_, rest, _ = bytes.Cut(text[end:], []byte("\n"))
	return rest, nil
}

// link takes the counters of one link, in the order of their names.
func (f *file) link(l link) error {
	var name string
	if err := json.Unmarshal(l["ifname"], &name); len(l["ifname"]) > 0 && err != nil {
		return errors.New("ifname is no name")
	}
	if port := l["port"]; len(port) > 0 {
		name += "/" + string(port)
	}
	f.device = name
	for _, key := range slices.Sorted(maps.Keys(l)) {
		switch key {
		case "ifname", "port", "ifindex":
			continue
		}
		if err := f.add(key, string(l[key])); err != nil {
			return err
		}
	}
	return nil
}
