package main

import (
	"errors"
	"os"
	"runtime"
	"runtime/pprof"
)

// profile writes profiles of the program itself, where files are named. stop
// must be called once the work is done.
func profile(cpu, mem string) (stop func() error, err error) {
	var f *os.File
	if cpu != "" {
		if f, err = os.Create(cpu); err != nil {
			return nil, unwritable(cpu, err)
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return nil, errors.Join(unwritable(cpu, err), f.Close())
		}
	}
	return func() error {
		var err error
		if f != nil {
			pprof.StopCPUProfile()
			err = f.Close()
		}
		if mem != "" {
			runtime.GC() // so that what is no longer used does not count
			err = errors.Join(err, writeFile(mem, pprof.WriteHeapProfile))
		}
		return err
	}, nil
}
