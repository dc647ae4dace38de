package capture

// Options of pcapng, by the block they stand in.
const (
	optEnd     = 0
	optComment = 1

	optIfName   = 2
	optIfDesc   = 3
	optIfResol  = 9
	optIfFCSLen = 13
	optIfOffset = 14

	optStatsReceived  = 4
	optStatsDropped   = 5
	optStatsOSDropped = 7

	optPacketDropped = 4
)

// An optionList walks a list of options: each call of next puts one of them into code
// and value, which is a part of the block.
type optionList struct {
	p     *pcapng
	rest  []byte
	code  uint16
	value []byte
}

// next reports false at the end of the list, and at an option that claims more
// bytes than there are: options only add to what the block says, so one that is
// broken is no reason to lose the block.
func (o *optionList) next() bool {
	if len(o.rest) < 4 {
		return false
	}
	o.code = o.p.u16(o.rest)
	n := int(o.p.u16(o.rest[2:]))
	padded := 4 + (n+3)&^3
	if o.code == optEnd || padded > len(o.rest) {
		return false
	}
	o.value = o.rest[4 : 4+n]
	o.rest = o.rest[padded:]
	return true
}

// u64 is the value as a number, 0 where it does not have 8 bytes.
func (o *optionList) u64() uint64 {
	if len(o.value) != 8 {
		return 0
	}
	a, b := uint64(o.p.u32(o.value)), uint64(o.p.u32(o.value[4:]))
	if o.p.big {
		return a<<32 | b
	}
	return b<<32 | a
}
