package main

import "encoding/json"

// A queue is what tc says of a queue that is not idle by nature.
type queue struct {
	Port    string `json:"port"`
	Kind    string `json:"kind"`
	Packets int    `json:"packets"`
	Dropped int    `json:"dropped"`
	Marked  int    `json:"marked"`
	Options any    `json:"options,omitempty"`
}

// queues reads what "tc -s -j qdisc show" said in one namespace.
func queues(data []byte) ([]queue, error) {
	var all []struct {
		Dev, Kind      string
		Packets, Drops int
		Marked, Early  int
		Options        any
	}
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, err
	}
	var out []queue
	for _, q := range all {
		if q.Kind == "netem" || q.Kind == "tbf" || q.Kind == "red" {
			out = append(out, queue{q.Dev, q.Kind, q.Packets, q.Drops, q.Marked, q.Options})
		}
	}
	return out, nil
}

// A filter is what tc says of an action at a hook.
type filter struct {
	Hook    string `json:"hook"`
	Action  string `json:"action"`
	Packets int    `json:"packets"`
	Dropped int    `json:"dropped"`
}

// filters reads what "tc -s -j filter show" said of one hook.
func filters(hook string, data []byte) ([]filter, error) {
	var all []struct {
		Options struct {
			Actions []struct {
				Kind  string
				Stats struct{ Packets, Drops int }
			}
		}
	}
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, err
	}
	var out []filter
	for _, f := range all {
		for _, a := range f.Options.Actions {
			out = append(out, filter{hook, a.Kind, a.Stats.Packets, a.Stats.Drops})
		}
	}
	return out, nil
}
