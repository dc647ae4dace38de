//go:build !linux && !darwin && !freebsd

package main

import "os"

// terminal reports whether a stream is a terminal. It does not know its width.
func terminal(stream any) (width int, is bool) {
	f, ok := stream.(*os.File)
	if !ok {
		return 0, false
	}
	st, err := f.Stat()
	return 0, err == nil && st.Mode()&os.ModeCharDevice != 0
}
