package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// A need is something that the machine must have, and the Debian package that
// brings it.
type need struct{ what, pkg string }

var toBuild = []need{
	{"apt-get", "apt"},
	{"debootstrap", "debootstrap"},
	{"dpkg-deb", "dpkg"},
	{"tar", "tar"},
	{"mke2fs", "e2fsprogs"},
	{"cpio", "cpio"},
	{"gzip", "gzip"},
	{"xz", "xz-utils"},
	{"gcc", "gcc"},
	{"/usr/include/infiniband/verbs.h", "libibverbs-dev"},
}

var toRecord = []need{{"qemu-system-x86_64", "qemu-system-x86"}}

// met reports whether the machine has it: a program in the path, or a file.
func (n need) met() bool {
	if strings.HasPrefix(n.what, "/") {
		_, err := os.Stat(n.what)
		return err == nil
	}
	_, err := exec.LookPath(n.what)
	return err == nil
}

// missing names what is not there, in one error.
func missing(needs ...need) error {
	needs = slices.DeleteFunc(slices.Clone(needs), need.met)
	if len(needs) == 0 {
		return nil
	}
	var whats, pkgs []string
	for _, n := range needs {
		whats, pkgs = append(whats, n.what), append(pkgs, n.pkg)
	}
	return fmt.Errorf("not found: %s; try: apt-get install %s", strings.Join(whats, ", "), strings.Join(pkgs, " "))
}
