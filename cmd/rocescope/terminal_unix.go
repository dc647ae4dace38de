//go:build linux || darwin || freebsd

package main

import (
	"os"
	"syscall"
	"unsafe"
)

// terminal reports whether a stream is a terminal, and how many columns it
// has; 0 where it does not say.
func terminal(stream any) (width int, is bool) {
	f, ok := stream.(*os.File)
	if !ok {
		return 0, false
	}
	var size struct{ rows, columns, x, y uint16 }
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), syscall.TIOCGWINSZ, uintptr(unsafe.Pointer(&size)))
	return int(size.columns), errno == 0
}
