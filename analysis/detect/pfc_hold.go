package detect

// pfcHold adds up how long one priority is held paused. A frame that names a time
// replaces what is left of the one before, and a time of 0 ends the pause.
type pfcHold struct {
	quantum   float64 // ns; see pfcQuantum
	window    int64   // ns; see pfcWorst
	on        bool
	from      int64 // what counts of the pause in force starts here
	until     int64 // and ends here where no further frame comes
	run       int64 // start of the unbroken stretch that it belongs to
	total     int64 // ns of what is over
	stretches int64 // how many unbroken ones there were
	longest   int64
	worst     pfcWorst
}

// longestPauseNs bounds one pause, whatever link rate was given.
const longestPauseNs = 1e12

// pfcQuantum returns the length in ns of a quantum, 512 bit times, on a link of
// some bits per second.
func pfcQuantum(rate float64) float64 { return 512e9 / rate }

// set takes a frame. It reports whether a pause was still in force.
func (h *pfcHold) set(t int64, quanta uint16) (refreshed bool) {
	t = max(t, h.from) // time may step back
	refreshed = h.on && t <= h.until
	h.cut(t)
	h.from = t
	if quanta == 0 {
		return refreshed
	}
	if !refreshed {
		h.stretches++
		h.run = t
	}
	h.on, h.until = true, t+int64(min(float64(quanta)*h.quantum, longestPauseNs))
	return refreshed
}

// cut ends what is in force at a time, or where it had ended by itself.
func (h *pfcHold) cut(t int64) {
	if !h.on {
		return
	}
	h.on = false
	end := min(max(t, h.from), h.until)
	h.total += end - h.from
	h.longest = max(h.longest, end-h.run)
	h.worst.add(h.from, end, h.window)
}

// held returns how long the priority was paused until a time.
func (h *pfcHold) held(t int64) int64 {
	if !h.on || t <= h.from {
		return h.total
	}
	return h.total + min(t, h.until) - h.from
}

// at returns what a hold comes to where the capture ends.
func (h pfcHold) at(end int64) pfcHold {
	h.cut(end)
	return h
}

// pfcWorst finds the window with the longest pauses. Windows stand at multiples of
// their length, so that those of two reports are the same ones.
type pfcWorst struct{ number, sum, most int64 }

func (b *pfcWorst) add(from, to, window int64) {
	if from >= to || window <= 0 {
		return
	}
	first, last := pfcFloor(from, window), pfcFloor(to-1, window)
	if first == last {
		b.put(first, to-from)
		return
	}
	b.put(first, (first+1)*window-from)
	if last > first+1 {
		b.put(last-1, window) // and those between, which are as full
	}
	b.put(last, to-last*window)
}

func (b *pfcWorst) put(number, ns int64) {
	if number != b.number {
		b.number, b.sum = number, 0
	}
	b.sum += ns
	b.most = max(b.most, b.sum)
}

func pfcFloor(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
