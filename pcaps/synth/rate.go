package synth

// The parameters of the rate control, as DCQCN names them.
const (
	gain          = 1.0 / 16  // g: how fast alpha follows
	alphaTimer    = 55_000    // ns without a CNP until alpha falls
	increaseTimer = 55_000    // ns without a CNP until the rate rises
	fastRecovery  = 5         // steps that halve the distance to the target
	additive      = 0.005     // of the link's rate: a later step of the target
	hyper         = 0.05      // and of one much later
	lowest        = 1.0 / 128 // of the link's rate
	increaseBytes = 1 << 20   // sent without a CNP until the rate rises
)

// rate is that of a queue pair under DCQCN: each CNP cuts it by half of alpha,
// and time and bytes without one bring it back.
type rate struct {
	limited bool
	current float64 // share of the link's rate
	target  float64
	alpha   float64
	steps   int   // of recovery
	ready   int64 // when the next packet may leave
	timer   int   // the one that counts; older ones have been stopped
	bytes   int   // since the last step
}

// sent takes a packet of some bytes that leaves now.
func (r *rate) sent(e *endpoint, bytes int) {
	if !r.limited {
		return
	}
	r.ready = e.host.world.clock.now + int64(float64(8*bytes)/(e.host.port.cable.rate*r.current))
	if r.bytes += bytes; r.bytes >= increaseBytes {
		r.bytes = 0
		r.increase()
	}
}

// slowDown takes a CNP.
func (e *endpoint) slowDown() {
	r := &e.rate
	if e.conn.Unmoved {
		return
	}
	if !r.limited {
		*r = rate{limited: true, current: 1, alpha: 1, timer: r.timer}
	}
	r.target = r.current
	r.current = max(r.current*(1-r.alpha/2), lowest)
	r.alpha = (1-gain)*r.alpha + gain
	r.steps, r.bytes = 0, 0
	r.timer++
	e.recover(r.timer)
}

// recover raises the rate time after time, until it is that of the link.
func (e *endpoint) recover(timer int) {
	e.host.world.clock.after(increaseTimer, func() {
		r := &e.rate
		if r.timer != timer || !r.limited {
			return
		}
		r.alpha *= 1 - gain*increaseTimer/alphaTimer
		r.increase()
		if r.limited {
			e.recover(timer)
		}
		e.wake()
	})
}

// increase takes one step: towards the rate before the last cut, and then
// beyond it.
func (r *rate) increase() {
	r.steps++
	switch {
	case r.steps > 2*fastRecovery:
		r.target += hyper
	case r.steps > fastRecovery:
		r.target += additive
	}
	r.target = min(r.target, 1)
	r.current = (r.current + r.target) / 2
	if r.current > 0.98 {
		r.limited, r.ready = false, 0
	}
}
