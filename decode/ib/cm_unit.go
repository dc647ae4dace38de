package ib

import (
	"fmt"
	"time"
)

// MTU is a path MTU as CM writes it, a code of 1 to 5; the zero value is "not
// known".
type MTU uint8

// MTUOf returns the code of a path MTU in bytes, 0 where there is none.
func MTUOf(bytes int) MTU {
	for m := MTU(1); m <= 5; m++ {
		if m.Bytes() == bytes {
			return m
		}
	}
	return 0
}

// Bytes returns the payload a full packet carries, 256 to 4096; 0 where the
// code is reserved.
func (m MTU) Bytes() int {
	if m < 1 || m > 5 {
		return 0
	}
	return 128 << m
}

// String returns the size as "1024", a reserved code as "code 9".
func (m MTU) String() string {
	if n := m.Bytes(); n != 0 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("code %d", uint8(m))
}

// Timeout is a time as CM writes it: an exponent of 0 to 31.
type Timeout uint8

// Duration returns 4.096 us * 2^t, at most 2 h 26 min. Of a local ACK timeout
// 0 means "none", which Duration does not know.
func (t Timeout) Duration() time.Duration { return 4096 << (t & 31) }

// String returns the duration.
func (t Timeout) String() string { return t.Duration().String() }
