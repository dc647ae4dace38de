package main

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
)

// defaultDir is a folder in the user's cache: under sudo that of the user who
// called it, since build wants root and record does not.
func defaultDir() string {
	if u := caller(); u != nil {
		return filepath.Join(u.HomeDir, ".cache", "rocescope-lab")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	return filepath.Join(cache, "rocescope-lab")
}

// caller is the user who called sudo, or nil.
func caller() *user.User {
	u, err := user.Lookup(os.Getenv("SUDO_USER"))
	if err != nil {
		return nil
	}
	return u
}

// handOver gives that user the folder in which record writes.
func (l *lab) handOver() error {
	u := caller()
	if u == nil {
		return nil
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	return os.Chown(l.path("share"), uid, gid)
}
