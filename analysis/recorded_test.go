package analysis_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// recorded is what is known of a recorded run from outside of its captures:
// what the programs asked for, what the hosts and the switch counted, and how
// the captures of two points differ, frame by frame.
type recorded struct {
	Captures map[string]struct {
		Frames int64 `json:"tcpdump_captured"`
	} `json:"captures"`
	Counters map[string]int64 `json:"rxe_counter_deltas"`
	Queues   []struct {
		Dev   string `json:"dev"`
		Drops int64  `json:"drops"`
	} `json:"qdisc"`
	Programs []struct {
		QPs    []queuePair `json:"qps"`
		Posted []struct {
			Op    string `json:"op"`
			Len   int64  `json:"len"`
			Count int64  `json:"count"`
		} `json:"posted"`
	} `json:"programs"`
	Observed []observed          `json:"observed_by_verify_py"`
	Between  map[string]crossing `json:"between_capture_points"`
}

// queuePair is a connection as the program that made it printed it.
type queuePair struct {
	Type string `json:"type"`
	MTU  int64  `json:"mtu"`
	GID1 string `json:"gid1"`
	QPN1 uint32 `json:"qpn1"`
	GID2 string `json:"gid2"`
	QPN2 uint32 `json:"qpn2"`
}

// observed is what a program of another hand read from one capture.
type observed struct {
	File string           `json:"file"`
	RoCE int64            `json:"roce"`
	NAKs map[string]int64 `json:"naks"`
	ICRC map[string]int64 `json:"icrc"`
	ECN  map[string]int64 `json:"ecn"`
	Gaps struct {
		Episodes int64 `json:"gaps"`
	} `json:"req_gaps"`
}

// crossing is what became of the frames on the way from one capture point to
// another.
type crossing struct {
	Sent, Late, Copies, Lost int64
	LostFrames               []uint64 // at the point they left
}

// UnmarshalJSON reads the counters, whose names end in that of the point.
func (c *crossing) UnmarshalJSON(data []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	counters := map[string]*int64{"sent_at_": &c.Sent, "late_arrivals_at_": &c.Late, "extra_copies_at_": &c.Copies, "not_seen_unmodified_at_": &c.Lost}
	for name, value := range fields {
		for prefix, to := range counters {
			if strings.HasPrefix(name, prefix) {
				if err := json.Unmarshal(value, to); err != nil {
					return err
				}
			}
		}
	}
	var list [][]any
	if err := json.Unmarshal(fields["list_frame_dqpn_psn_opcode"], &list); err != nil {
		return err
	}
	for _, entry := range list {
		c.LostFrames = append(c.LostFrames, uint64(entry[0].(float64)))
	}
	return nil
}

// truthOf reads the truth of a recorded capture such as "loss_post.h1.pcap".
func truthOf(t testing.TB, name string) *recorded {
	t.Helper()
	name, _, _ = strings.Cut(filepath.Base(name), ".")
	var r recorded
	readJSON(t, filepath.Join(softroce, name+".truth.json"), &r)
	return &r
}

// count is a number that the truth of a run gives.
type count func(*recorded) int64

func lost(way string) count   { return func(r *recorded) int64 { return r.Between[way].Lost } }
func late(way string) count   { return func(r *recorded) int64 { return r.Between[way].Late } }
func copies(way string) count { return func(r *recorded) int64 { return r.Between[way].Copies } }
func counter(name string) count {
	return func(r *recorded) int64 { return r.Counters[name] }
}
func exactly(n int64) count { return func(*recorded) int64 { return n } }

// drops is what the queue of a device threw away.
func drops(dev string) count {
	return func(r *recorded) (n int64) {
		for _, q := range r.Queues {
			if q.Dev == dev {
				n += q.Drops
			}
		}
		return n
	}
}

// gapsSeen is the number of gaps another program found in a capture.
func gapsSeen(file string) count {
	return func(r *recorded) int64 {
		for _, o := range r.Observed {
			if o.File == file {
				return o.Gaps.Episodes
			}
		}
		return -1
	}
}

// resent is what left a point beyond the packets that were asked for. It holds
// for programs without READs, whose requests are one packet for many answers.
func resent(way string, program int) count {
	return func(r *recorded) int64 {
		p := r.Programs[program]
		n := r.Between[way].Sent
		for _, op := range p.Posted {
			n -= op.Count * ((op.Len + p.QPs[0].MTU - 1) / p.QPs[0].MTU)
		}
		return n
	}
}

// reread is how many READ requests left a point beyond those asked for.
func reread(way string) count {
	return func(r *recorded) int64 { return r.Between[way].Sent - r.Programs[0].Posted[0].Count }
}

// half is half of the frames of a capture.
func half(file string) count {
	return func(r *recorded) int64 { return r.Captures[file].Frames / 2 }
}

// minus is a difference of two numbers.
func minus(a, b count) count { return func(r *recorded) int64 { return a(r) - b(r) } }
