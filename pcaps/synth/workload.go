package synth

import "time"

// Workloads are connections as applications of a kind use them. A scenario may
// change each of them, and add further ones behind.

// between gives two hosts n connections with the same work.
func between(from, to, n int, work ...Work) []Connection {
	out := make([]Connection, n)
	for i := range out {
		out[i] = Connection{From: from, To: to, Start: time.Duration(i) * 3 * us, Work: work}
	}
	return out
}

// Ring has each host write to the next one and the last to the first, over a
// number of channels, as NCCL's rings do: what a host passes on is what has
// arrived at it, but for the first message. All sequences start at 0.
func Ring(hosts []int, channels int, w Work) []Connection {
	var out []Connection
	for range channels {
		base := len(out)
		for i, from := range hosts {
			previous := base + (i+len(hosts)-1)%len(hosts) + 1
			c := collective(from, hosts[(i+1)%len(hosts)], len(out))
			first, rest := w.Times(1), w.Times(w.times-1)
			first.every, rest.every = 0, 0
			c.Work = []Work{first, rest.Following(previous)}
			out = append(out, c)
		}
	}
	return out
}

// AllToAll has each host write to every other.
func AllToAll(hosts []int, w Work) []Connection {
	var out []Connection
	for i := 1; i < len(hosts); i++ {
		for j, from := range hosts { // each round spreads over all receivers
			c := collective(from, hosts[(j+i)%len(hosts)], len(out))
			c.Work = []Work{w}
			out = append(out, c)
		}
	}
	return out
}

// collective is a connection as NCCL makes it.
func collective(from, to, number int) Connection {
	return Connection{From: from, To: to, PathMTU: 1024, FirstPSN: PSN(0), Start: time.Duration(number) * 700 * time.Nanosecond}
}

// Incast has many hosts send to one at the same time.
func Incast(to int, from []int, w Work) []Connection {
	var out []Connection
	for _, host := range from {
		out = append(out, Connection{From: host, To: to, PathMTU: 1024, Work: []Work{w}})
	}
	return out
}

// Storage has a client send commands to a target, which fetches or stores the
// data and answers: what NVMe over Fabrics does.
func Storage(client, target, queues, commands int) []Connection {
	out := make([]Connection, queues)
	for i := range out {
		number := i + 1
		out[i] = Connection{
			From: client, To: target, PathMTU: 1024, ByCM: true, Start: time.Duration(i) * 15 * us,
			Work: []Work{Send(64).Times(commands).Every(25 * us)},
			Back: []Work{
				Read(4096).Times(commands / 2).Following(number),
				Write(4096).Times(commands / 2).Every(50 * us),
				Send(16).Times(commands).Every(25 * us).After(12 * us),
			},
		}
	}
	return out
}
