package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// writeFile writes a file so that it is there either whole or not at all: to a
// neighbour first, which then takes its name. What is no plain file (a pipe, a
// terminal, /dev/null) is written to as it is.
func writeFile(name string, write func(io.Writer) error) error {
	target, mode := name, fs.FileMode(0o644)
	switch st, err := os.Stat(name); {
	case err == nil && !st.Mode().IsRegular():
		return overwrite(name, write)
	case err == nil:
		mode = st.Mode().Perm()
		if target, err = filepath.EvalSymlinks(name); err != nil {
			return unwritable(name, err)
		}
	}
	f, err := os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target)+".*")
	if err != nil {
		return unwritable(name, err)
	}
	defer os.Remove(f.Name()) // fails once the file has its name
	err = errors.Join(buffered(f, write), f.Chmod(mode), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), target)
	}
	if err != nil {
		return unwritable(name, err)
	}
	return nil
}

func overwrite(name string, write func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err == nil {
		err = errors.Join(buffered(f, write), f.Close())
	}
	if err != nil {
		return unwritable(name, err)
	}
	return nil
}

func buffered(w io.Writer, write func(io.Writer) error) error {
	b := bufio.NewWriterSize(w, 64<<10)
	return errors.Join(write(b), b.Flush())
}

func unwritable(name string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err // the path is that of the neighbour, which nobody knows
	}
	return &failure{exitUsage, fmt.Sprintf("%s cannot be written: %v", name, err), ""}
}

// sameFile reports whether two names stand for one file.
func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && x.Mode().IsRegular() && os.SameFile(x, y)
}
