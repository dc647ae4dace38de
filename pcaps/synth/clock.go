package synth

import "container/heap"

// clock is the simulated time, in ns since the Unix epoch: what is still to
// happen, in the order of time, and at equal times in the order of asking.
type clock struct {
	now     int64
	asked   uint64
	pending events
}

// at lets something happen at t, or now where t has passed.
func (c *clock) at(t int64, do func()) {
	c.asked++
	heap.Push(&c.pending, event{max(t, c.now), c.asked, do})
}

// after lets something happen in d ns.
func (c *clock) after(d int64, do func()) { c.at(c.now+d, do) }

// run lets time pass until nothing is pending.
func (c *clock) run() {
	for len(c.pending) > 0 {
		e := heap.Pop(&c.pending).(event)
		c.now = e.time
		e.do()
	}
}

type event struct {
	time  int64
	asked uint64
	do    func()
}

// events is a heap.
type events []event

func (e events) Len() int      { return len(e) }
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }

func (e events) Less(i, j int) bool {
	if e[i].time != e[j].time {
		return e[i].time < e[j].time
	}
	return e[i].asked < e[j].asked
}

func (e *events) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	*e = (*e)[:last]
	return x
}
