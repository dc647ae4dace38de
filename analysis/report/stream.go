package report

import (
	"io"
	"reflect"
	"runtime"
)

// stream writes a report in pieces: what there is much of is encoded in pieces
// by all cores, and written in order meanwhile, so that the whole text never
// stands in memory.
type stream struct {
	pieces chan *piece // in the order of the text
	work   chan *piece // to be encoded
	free   chan []byte
	head   []byte // what is not handed on yet
}

// piece is some elements of a list, or text that is there already.
type piece struct {
	list     *node
	v        reflect.Value
	from, to int
	text     []byte
	done     chan struct{}
}

// pieceLen is how many elements are encoded at a time, some 100 KB.
const pieceLen = 64

// mass are the types of which there is one for each flow, or so.
var mass = map[reflect.Type]bool{
	reflect.TypeFor[Flow](): true, reflect.TypeFor[Row](): true,
	reflect.TypeFor[HostCounters](): true, reflect.TypeFor[Finding](): true,
}

// writeStream writes the JSON of v to w.
func writeStream(w io.Writer, n *node, v reflect.Value) error {
	cores := runtime.GOMAXPROCS(0)
	s := &stream{pieces: make(chan *piece, 2*cores), work: make(chan *piece, 2*cores), free: make(chan []byte, 4*cores)}
	for range cores {
		go s.encode()
	}
	go func() {
		s.walk(n, v)
		s.head = append(s.head, '\n')
		s.flush()
		close(s.work)
		close(s.pieces)
	}()
	var err error
	for p := range s.pieces { // to the end, so that nobody waits for ever
		<-p.done
		if err == nil {
			_, err = w.Write(p.text)
		}
		select {
		case s.free <- p.text[:0]:
		default:
		}
	}
	return err
}

func (s *stream) encode() {
	for p := range s.work {
		select {
		case p.text = <-s.free:
		default:
		}
		p.text = p.list.elements(p.text, p.v, p.from, p.to)
		close(p.done)
	}
}

// flush hands on what was encoded here.
func (s *stream) flush() {
	p := &piece{text: s.head, done: make(chan struct{})}
	close(p.done)
	s.pieces <- p
	s.head = nil
}

// walk goes down to the lists of what there is much of.
func (s *stream) walk(n *node, v reflect.Value) {
	t := v.Type()
	switch {
	case t.Kind() == reflect.Struct && t != reflect.TypeFor[Hist]():
		first := true
		for i := range n.fields {
			f := &n.fields[i]
			x := v.Field(f.index)
			if f.omitEmpty && empty(x) {
				continue
			}
			s.head = append(append(s.head, opening('{', first)), f.label...)
			s.walk(f.node, x)
			first = false
		}
		s.head = append(append(s.head, n.end...), '}')
	case t.Kind() == reflect.Slice && v.Len() > 0 && mass[t.Elem()]:
		s.head = append(s.head, '[')
		s.flush()
		for i := 0; i < v.Len(); i += pieceLen {
			p := &piece{list: n, v: v, from: i, to: min(i+pieceLen, v.Len()), done: make(chan struct{})}
			s.pieces <- p
			s.work <- p
		}
		s.head = append(append(s.head, n.end...), ']')
	case t.Kind() == reflect.Slice && v.Len() > 0 && t.Elem().Kind() == reflect.Struct:
		for i := range v.Len() {
			s.head = append(append(s.head, opening('[', i == 0)), n.open...)
			s.walk(n.elem, v.Index(i))
		}
		s.head = append(append(s.head, n.end...), ']')
	default:
		s.head = n.encode(s.head, v)
	}
}

// opening is the bracket before the first of several things, a comma before the
// others.
func opening(bracket byte, first bool) byte {
	if first {
		return bracket
	}
	return ','
}
