package main

import (
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
)

// hugePages asks for large pages where the heap will grow: what is kept of thousands
// of flows is looked up all over a few hundred megabytes, and with small pages a
// third of the time goes into finding them. It makes room that it gives back
// untouched, which takes addresses and no memory; the heap grows there, since the
// runtime fills the lowest free addresses first.
func hugePages() {
	if n := addresses(); n > 0 {
		_ = syscall.Madvise(make([]byte, n), syscall.MADV_HUGEPAGE) // small pages do as well
		debug.FreeOSMemory()
	}
}

// addresses returns for how many bytes addresses may be asked for; 0 where they are
// few, or counted as if they were memory.
func addresses() uint64 {
	const most = 1 << 30
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_AS, &limit) != nil || limit.Cur < 1<<40 || strconv.IntSize < 64 {
		return 0
	}
	mode, err := os.ReadFile("/proc/sys/vm/overcommit_memory")
	var machine syscall.Sysinfo_t
	if err != nil || strings.TrimSpace(string(mode)) == "2" || syscall.Sysinfo(&machine) != nil {
		return 0
	}
	return min(most, uint64(machine.Totalram)*uint64(machine.Unit)/4)
}
