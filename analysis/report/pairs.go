package report

// HostPairs counts pairs of hosts, both directions as one.
type HostPairs struct {
	All       int64
	Connected int64 // with a connection: that nothing comes back to a datagram says nothing
	OneWay    int64 // of these, seen in one direction only
}

// HostPairs counts the pairs of hosts in the rows of the report.
func (r *Report) HostPairs() HostPairs {
	type way struct{ src, dst string }
	seen, connected := map[way]bool{}, map[way]bool{}
	for i := range r.Flows {
		f := &r.Flows[i]
		if f.Src == Other {
			continue
		}
		w := way{f.Src, f.Dst}
		seen[w] = true
		if f.Transport != "UC" && f.Transport != "UD" {
			connected[w] = true
		}
	}
	unordered := func(ways map[way]bool) (n int64) {
		for w := range ways {
			if w.src <= w.dst || !ways[way{w.dst, w.src}] {
				n++
			}
		}
		return n
	}
	out := HostPairs{All: unordered(seen), Connected: unordered(connected)}
	for w := range connected {
		if !seen[way{w.dst, w.src}] {
			out.OneWay++
		}
	}
	return out
}
