package analysis

import (
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// Sort is what watchers tell frames apart by.
type Sort uint8

// The sorts of frames.
const (
	NoRoCE     Sort = iota
	Stop            // PFC and PAUSE
	Management      // to the queue pairs 0 and 1
	Notice          // CNP
	Answer          // of the responses what is no refusal and carries nothing
	Refusal         // NAK for a PSN sequence error
	Ask             // requests that move no data, as that of a READ
	Data            // requests that do
	Reply           // responses that do
)

// Train is frames of the capture one right behind the other that are alike: of
// one sort, between the same addresses, with the same ECN and priority. Time does
// not step back within.
type Train struct {
	Sort    Sort
	Packets []*decode.Packet // at least one
	Bytes   int64            // their lengths on the wire

	// Pair, Src and Dst number the ordered pair of addresses and the addresses,
	// from 0 in the order of the first frame of these sorts: Refusal, Ask, Data,
	// Reply. NoHost stands for the others, and beyond the caps. Back is the pair the
	// other way, NoHost where none was seen yet.
	Pair, Back, Src, Dst int32
}

// NoHost numbers what has no number.
const NoHost = -1

// First is the first frame.
func (t *Train) First() *decode.Packet { return t.Packets[0] }

// Last is the last frame.
func (t *Train) Last() *decode.Packet { return t.Packets[len(t.Packets)-1] }

// Sorts is a set of sorts.
type Sorts uint16

// Has reports whether a sort is in the set.
func (s Sorts) Has(x Sort) bool { return s>>x&1 != 0 }

// Lookout puts the frames of a capture into trains for watchers.
type Lookout struct {
	watchers []Watcher
	hosts    hostIndex
	frames   [batchSize]*decode.Packet
	n        int
	time     int64 // of the last one
	trains   []Train
	sorts    Sorts
	like     uint64 // what the frames of the current train have in common beside the addresses
	from     int    // where it begins
	bytes    int64  // what it has so far
}

// likeNone is the likeness of no frame.
const likeNone = 1 << 63

// NewLookout returns a lookout for some watchers.
func NewLookout(ws ...Watcher) *Lookout {
	return &Lookout{watchers: ws, hosts: newHostIndex(), trains: make([]Train, 0, batchSize), like: likeNone}
}

// Add takes the next frame, which must stay as it is until Show.
func (l *Lookout) Add(p *decode.Packet) {
	if l.n == len(l.frames) {
		l.Show()
	}
	s := NoRoCE
	if p.Status == decode.RoCE && p.QP > 1 {
		s = sorts[p.Op]
	}
	if s <= Answer {
		s = sortOf(p)
	}
	like := uint64(s) | uint64(p.ECN)<<8 | uint64(p.PCP)<<16 | uint64(p.Version)<<24
	if p.Tagged {
		like |= 1 << 32
	}
	if like != l.like || !l.continues(p) {
		l.begin(p, s)
		l.like = like
	}
	l.frames[l.n] = p
	l.n++
	l.time = p.Time
	l.bytes += int64(p.Len)
}

// goOn takes the next frames, each of which goes on with the message of the one
// before it. There is room for them.
func (l *Lookout) goOn(ps []*decode.Packet) {
	from, t, bytes := l.n, l.time, int64(0)
	copy(l.frames[from:], ps)
	for i, p := range ps {
		if p.Time < t {
			l.n, l.time, l.bytes = from+i, t, l.bytes+bytes
			l.Add(p)
			l.goOn(ps[i+1:])
			return
		}
		t, bytes = p.Time, bytes+int64(p.Len)
	}
	l.n, l.time, l.bytes = from+len(ps), t, l.bytes+bytes
}

// continues reports whether a frame has the addresses of the last one, and is not
// of an earlier time.
func (l *Lookout) continues(p *decode.Packet) bool {
	q := l.frames[l.n-1]
	return p.Time >= l.time && p.Src == q.Src && p.Dst == q.Dst
}

// begin begins a train with the next frame.
func (l *Lookout) begin(p *decode.Packet, s Sort) {
	l.end()
	l.from, l.bytes = l.n, 0
	l.sorts |= 1 << s
	l.trains = append(l.trains, Train{Sort: s, Pair: NoHost, Back: NoHost, Src: NoHost, Dst: NoHost})
	if s >= Refusal {
		l.hosts.number(p, &l.trains[len(l.trains)-1])
	}
}

// end ends the current train.
func (l *Lookout) end() {
	if len(l.trains) > 0 {
		t := &l.trains[len(l.trains)-1]
		t.Packets, t.Bytes = l.frames[l.from:l.n], l.bytes
	}
}

// Show shows the watchers what has gathered.
func (l *Lookout) Show() {
	if l.n == 0 {
		return
	}
	l.end()
	for _, w := range l.watchers {
		w.Watch(l.trains, l.sorts)
	}
	l.n, l.trains, l.sorts, l.like = 0, l.trains[:0], 0, likeNone
}

// sortOf returns the sort of a frame that carries and asks for nothing.
func sortOf(p *decode.Packet) Sort {
	switch {
	case p.Status == decode.PFC || p.Status == decode.Pause:
		return Stop
	case p.Status != decode.RoCE:
		return NoRoCE
	case p.QP <= 1:
		return Management
	case p.Op == ib.CNP:
		return Notice
	case p.IsSequenceNAK():
		return Refusal
	}
	return Answer
}

// sorts is the sort of each opcode.
var sorts = func() (out [256]Sort) {
	for i := range out {
		op := ib.Opcode(i)
		switch {
		case op.Is(ib.IsReadResponse | ib.IsAtomicAck):
			out[i] = Reply
		case op.Is(ib.IsSend | ib.IsWrite | ib.IsAtomic):
			out[i] = Data
		case op.Is(ib.IsRequest):
			out[i] = Ask
		default:
			out[i] = Answer
		}
	}
	return out
}()
