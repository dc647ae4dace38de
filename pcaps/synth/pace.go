package synth

// recovery is how often a slowed sender takes half of what it lacks, in ns.
const recovery = 300_000

// pace is the rate of a queue pair under congestion control: each CNP halves
// it, and time brings it back.
type pace struct {
	share float64 // of the link's rate; 0 stands for all of it
	ready int64   // when the next packet may leave
	timer int
}

// sent takes a packet of some bytes that leaves now.
func (p *pace) sent(now int64, bytes int, rate float64) {
	if p.share > 0 {
		p.ready = now + int64(float64(8*bytes)/(rate*p.share))
	}
}

// slowDown takes a CNP.
func (q *requester) slowDown() {
	if q.pace.share == 0 {
		q.pace.share = 1
	}
	q.pace.share = max(q.pace.share/2, 1.0/64)
	q.pace.timer++
	q.recoverLater()
}

func (q *requester) recoverLater() {
	running := q.pace.timer
	q.e.host.world.clock.after(recovery, func() {
		switch p := &q.pace; {
		case p.timer != running || p.share == 0:
		case p.share > 0.9:
			p.share, p.ready = 0, 0
		default:
			p.share = (p.share + 1) / 2
			q.recoverLater()
		}
	})
}
