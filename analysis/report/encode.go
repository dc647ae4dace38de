package report

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// A report of a hundred thousand rows is a quarter of a gigabyte of JSON, of
// which encoding/json with indentation writes 60 MB a second. So the plan of each
// type is made once, from the tags that encoding/json goes by and to the same
// bytes, and then values are appended by it.

// encoder appends a value, which can be addressed, as JSON.
type encoder func(b []byte, v reflect.Value) []byte

// node is the plan of one type at one depth of indentation.
type node struct {
	encode encoder
	fields []field // of a struct
	elem   *node   // of a list
	open   string  // stands before each element: a new line
	end    string  // stands after the last one: the line of the bracket
}

// field is one field of a struct.
type field struct {
	index     int
	label     string // the line up to the value
	omitEmpty bool
	*node
}

var reportNode = nodeOf(reflect.TypeFor[Report](), 0)

// line starts a line at a depth of indentation.
func line(depth int) string { return "\n" + strings.Repeat(" ", depth) }

// nodeOf makes the plan of a type. One that no report has panics.
func nodeOf(t reflect.Type, depth int) *node {
	n := &node{open: line(depth + 1), end: line(depth)}
	switch t.Kind() {
	case reflect.String:
		n.encode = appendText
	case reflect.Bool:
		n.encode = func(b []byte, v reflect.Value) []byte { return strconv.AppendBool(b, v.Bool()) }
	case reflect.Int, reflect.Int64:
		n.encode = func(b []byte, v reflect.Value) []byte { return strconv.AppendInt(b, v.Int(), 10) }
	case reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n.encode = func(b []byte, v reflect.Value) []byte { return strconv.AppendUint(b, v.Uint(), 10) }
	case reflect.Pointer:
		to := nodeOf(t.Elem(), depth)
		n.encode = func(b []byte, v reflect.Value) []byte {
			if v.IsNil() {
				return append(b, "null"...)
			}
			return to.encode(b, v.Elem())
		}
	case reflect.Slice:
		n.elem = nodeOf(t.Elem(), depth+1)
		n.encode = n.list
	case reflect.Map:
		n.encode = n.counts
	case reflect.Struct:
		n.encode = n.object
		if t == reflect.TypeFor[Hist]() {
			n.encode = n.hist(depth)
			break
		}
		n.fields = fieldsOf(t, depth+1)
	default:
		panic("report: no JSON for " + t.String())
	}
	return n
}

func fieldsOf(t reflect.Type, depth int) []field {
	var out []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" { // AckRTT of a Flow
			out = append(out, field{index: i, node: &node{encode: latencyOf(depth)}})
			continue
		}
		out = append(out, field{i, line(depth) + `"` + name + `": `, options == "omitempty", nodeOf(f.Type, depth)})
	}
	return out
}

// empty reports whether omitempty leaves a value out.
func empty(v reflect.Value) bool {
	if k := v.Kind(); k == reflect.Slice || k == reflect.Map {
		return v.Len() == 0
	}
	return v.IsZero()
}

// object appends a struct, which has a field that is never left out.
func (n *node) object(b []byte, v reflect.Value) []byte {
	start := len(b)
	for i := range n.fields {
		f := &n.fields[i]
		x := v.Field(f.index)
		if f.omitEmpty && empty(x) {
			continue
		}
		b = append(b, ',')
		b = append(b, f.label...)
		b = f.encode(b, x)
	}
	b[start] = '{'
	b = append(b, n.end...)
	return append(b, '}')
}

// list appends a list; one that is nil is empty as well.
func (n *node) list(b []byte, v reflect.Value) []byte {
	if v.Len() == 0 {
		return append(b, "[]"...)
	}
	b = append(b, '[')
	b = n.elements(b, v, 0, v.Len())
	b = append(b, n.end...)
	return append(b, ']')
}

// elements appends some elements of a list.
func (n *node) elements(b []byte, v reflect.Value, from, to int) []byte {
	switch list := v.Addr().Interface().(type) { // what tables are made of
	case *[]string:
		for i, s := range (*list)[from:to] {
			b = appendString(n.next(b, from+i), s)
		}
	case *[]int64:
		for i, x := range (*list)[from:to] {
			b = strconv.AppendInt(n.next(b, from+i), x, 10)
		}
	default:
		for i := from; i < to; i++ {
			b = n.elem.encode(n.next(b, i), v.Index(i))
		}
	}
	return b
}

// next appends what stands before element i.
func (n *node) next(b []byte, i int) []byte {
	if i > 0 {
		b = append(b, ',')
	}
	return append(b, n.open...)
}

// counts appends named numbers, by name.
func (n *node) counts(b []byte, v reflect.Value) []byte {
	counts := v.Interface().(map[string]int64)
	if len(counts) == 0 {
		return append(b, "{}"...)
	}
	b = append(b, '{')
	for i, name := range slices.Sorted(maps.Keys(counts)) {
		b = append(appendString(n.next(b, i), name), ": "...)
		b = strconv.AppendInt(b, counts[name], 10)
	}
	b = append(b, n.end...)
	return append(b, '}')
}

func appendText(b []byte, v reflect.Value) []byte { return appendString(b, v.String()) }

func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return appendOddString(b, s)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// appendOddString leaves escapes to encoding/json.
func appendOddString(b []byte, s string) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false) // filters are full of && and >
	_ = enc.Encode(s)        // of a string it never fails
	return append(b, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...)
}
