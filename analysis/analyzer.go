// Package analysis runs analyzers over a stream of packets, in parallel, and
// returns one report.
//
// A run goes in steps:
//
//  1. The reader decodes each frame where it was read into a Packet, a plain value,
//     for the shard of its unordered pair of addresses, so that both directions of
//     a connection meet.
//  2. The overseer counts the frames, in the order of the capture, shows them to
//     each analyzer's Watcher, and hands them on.
//  3. The shard finds the packet's row, pairs the two directions, and follows
//     the sequence numbers. All of that happens once for all analyzers; what
//     it notices are Events.
//  4. Each analyzer's Observer sees the batch: packets, rows and events.
//  5. At the end every shard reports what it counted, the reports are added,
//     and each analyzer judges the sum.
//
// The result does not depend on the number of shards. Memory grows with rows,
// which Config caps, and never with packets. The package reads no file and
// knows no flag.
package analysis

import (
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// Analyzer asks one question of a capture.
type Analyzer struct {
	Name string // "loss": names the section and the rules' prefix
	Doc  string // the first line is the question it answers
	// Rules are the pages of all findings that Judge may return.
	Rules []report.Rule
	// New returns an observer for one shard; nil where the analyzer only judges
	// what others counted.
	New func(*Config) Observer
	// Watch returns a watcher of the whole capture; nil where single pairs of
	// hosts are enough.
	Watch func(*Config) Watcher
	// Judge reads the added report once and says what it means; nil where the
	// analyzer only counts.
	Judge func(*report.Report, *Config) []report.Finding
}

// Observer counts for one shard.
type Observer interface {
	// Observe sees every packet once, in the order of the capture. It must not
	// allocate per packet, lock, or ask any clock but the packets'. It owns
	// nothing of the batch.
	Observe(*Batch)
	// Report adds what was counted to the shard's report, in which r.Flows[id]
	// is the row of FlowID id. It may be called any number of times, each time
	// on a fresh report.
	Report(r *report.Report)
}

// Watcher counts what concerns all hosts at once, such as the rate towards a
// receiver from everywhere, which no shard sees.
type Watcher interface {
	// Watch sees every frame of the capture once, in order, as it was decoded,
	// before anything is known of its row, and in trains; sorts are those among
	// them. All frames pass one goroutine here, so it is held to what an Observer
	// is, and to a nanosecond or two for each frame.
	Watch(ts []Train, sorts Sorts)
	// Report adds what was counted to a report without flows.
	Report(r *report.Report)
}

// FlowID numbers the rows of one shard, densely, in the order of their first
// frame.
type FlowID int32

// NoFlow stands for a packet that belongs to no row.
const NoFlow FlowID = -1

// Batch is some packets in a row, of one shard: those of RoCE between its pairs
// of hosts, and every PFC and PAUSE frame. All other frames are in the batches of
// one shard alone. Packets, Flow, Peer and Verdict run in parallel.
type Batch struct {
	Packets []decode.Packet
	Flow    []FlowID
	// Peer is the row of the other direction of the packet's connection, NoFlow
	// while it is not known.
	Peer    []FlowID
	Verdict []Verdict
	// Runs are the same packets again, those together that are alike.
	Streaks []Streak
	// CMs are the messages of connection management among the packets, in order.
	CMs []CMAt
	// Events are what the engine noticed while it took these packets, in the
	// order of the frames that decided. An event may speak of an earlier frame.
	Events []Event
	// Notes are what observers noted in this batch so far; see Note.
	Notes []Event
}

// CMAt is the connection management message of the packet at Index.
type CMAt struct {
	Index int
	CM    ib.CM
}

// Verdict is what was known of a packet when it passed.
type Verdict uint8

// The verdicts, a set of bits.
const (
	// Copy marks a further copy of a frame already seen, made by a mirror or by
	// the network. It counts in frames and bytes and nowhere else.
	Copy Verdict = 1 << iota
	// Resent marks a request or READ response that was sent before.
	Resent
	// Stray marks a frame with a bad ICRC that fits no row: its addresses or
	// numbers may be the damage, so it belongs to none.
	Stray
)

// Source hands out frames, as decode/capture does.
type Source interface {
	// Read fills f, whose Data stays valid until the next Read. It returns
	// io.EOF behind the last frame.
	Read(f *decode.Frame) error
}

// SomeSource is a Source that hands out as many frames at a time as it has at hand.
type SomeSource interface {
	Source
	// ReadSome fills frames with the next ones, at least one, and returns how
	// many; all Data stays valid until the next call. It returns io.EOF behind
	// the last frame.
	ReadSome(frames []decode.Frame) (int, error)
}

// oneByOne is a source whose frames come one at a time.
type oneByOne struct{ Source }

func (s oneByOne) ReadSome(frames []decode.Frame) (int, error) {
	if err := s.Read(&frames[0]); err != nil {
		return 0, err
	}
	return 1, nil
}

func someOf(src Source) SomeSource {
	if s, ok := src.(SomeSource); ok {
		return s
	}
	return oneByOne{src}
}
