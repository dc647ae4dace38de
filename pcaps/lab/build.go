package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

//go:embed guest
var guest embed.FS

// packages are what the guest's root holds beside the essential ones.
const packages = "rdma-core,ibverbs-providers,rdmacm-utils,perftest,iproute2,tcpdump,kmod,procps,busybox-static"

// A step makes something, unless it is there.
type step struct {
	what  string
	there func() bool
	make  func(context.Context) error
}

// build makes the guest, or what is missing of it.
func (l *lab) build(ctx context.Context) error {
	if err := missing(append(toBuild, toRecord...)...); err != nil {
		return err
	}
	if os.Geteuid() != 0 {
		return errors.New("build must run as root, because debootstrap must; record need not")
	}
	if err := os.MkdirAll(l.path("share"), 0o755); err != nil {
		return err
	}
	l.say("the guest is built in %s", l.dir)
	for _, s := range l.steps() {
		if err := l.take(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s.what, err)
		}
	}
	l.say("ready; now: go run ./pcaps/lab record")
	return l.handOver()
}

func (l *lab) steps() []step {
	return []step{
		{"kernel package", func() bool { return l.kernelPackage() != "" }, l.download},
		{"root of " + packages, l.has("root"), l.bootstrap},
		{"kernel and modules", l.has("vmlinuz"), l.unpack},
		{"traffic program", never, l.compile},
		{"initial disk", never, l.initrd},
		{"disk", l.diskIsFresh, l.disk},
	}
}

func never() bool { return false }

func (l *lab) has(name string) func() bool {
	return func() bool { _, err := os.Stat(l.path(name)); return err == nil }
}

func (l *lab) take(ctx context.Context, s step) error {
	if s.there() {
		l.say("%-20.60s is there", s.what)
		return nil
	}
	start := time.Now()
	err := s.make(ctx)
	l.say("%-20.60s took %.1f s", s.what, time.Since(start).Seconds())
	return err
}

// shell runs a line of shell in the lab's folder.
func (l *lab) shell(ctx context.Context, line string, args ...any) error {
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", fmt.Sprintf(line, args...))
	cmd.Dir = l.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, tail(string(out), 20))
	}
	return nil
}

// tail returns the last lines of a text.
func tail(s string, lines int) string {
	all := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

func (l *lab) kernelPackage() string {
	found, _ := filepath.Glob(l.path("linux-image-*.deb"))
	if len(found) == 0 {
		return ""
	}
	return found[0]
}

// download fetches the kernel that Debian's linux-image-amd64 stands for: the
// usual flavour, as that for cloud machines lacks Soft-RoCE.
func (l *lab) download(ctx context.Context) error {
	return l.shell(ctx, `apt-get download "$(apt-cache depends linux-image-amd64 | awk '/Depends: linux-image/{print $2; exit}')"`)
}

// bootstrap installs Debian of the host's own release, so that a program built
// here runs there.
func (l *lab) bootstrap(ctx context.Context) error {
	release, err := codename()
	if err != nil {
		return err
	}
	return l.shell(ctx, `rm -rf root.new; debootstrap --variant=minbase --include=%s %s root.new; rm -rf root.new/var/cache/apt/archives/*.deb root.new/var/lib/apt/lists/*; mv root.new root`, packages, release)
}

func codename() (string, error) {
	b, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return "", err
	}
	m := regexp.MustCompile(`(?m)^VERSION_CODENAME=(\w+)$`).FindSubmatch(b)
	if m == nil || !regexp.MustCompile(`(?m)^ID=debian$`).Match(b) {
		return "", errors.New("the guest is made of the host's own Debian release, and this is no Debian; use a Debian container")
	}
	return string(m[1]), nil
}

// tooMuch are drivers that no guest has devices for: two thirds of all.
var tooMuch = []string{"drivers/gpu", "drivers/media", "drivers/net/wireless", "drivers/net/ethernet", "drivers/scsi", "drivers/staging", "drivers/iio", "drivers/usb", "drivers/hwmon", "drivers/input", "sound", "fs/btrfs", "fs/xfs", "fs/ceph"}

// unpack puts the kernel beside the disk and its modules into the root.
func (l *lab) unpack(ctx context.Context) error {
	var without strings.Builder
	for _, d := range tooMuch {
		fmt.Fprintf(&without, " --exclude='*/kernel/%s'", d)
	}
	return l.shell(ctx, `dpkg-deb --fsys-tarfile %q | tar -x%s -C root ./lib/modules ./boot; V=$(ls root/lib/modules); chroot root depmod "$V"; mv root/boot/vmlinuz-* vmlinuz; rm -f root/boot/*`, l.kernelPackage(), without.String())
}

func (l *lab) compile(ctx context.Context) error {
	if err := l.writeGuest("traffic.c", l.path("traffic.c"), 0o644); err != nil {
		return err
	}
	return l.shell(ctx, "gcc -O1 -Wall -o share/traffic traffic.c -libverbs")
}

// writeGuest writes one of the embedded files.
func (l *lab) writeGuest(name, to string, mode fs.FileMode) error {
	b, err := guest.ReadFile("guest/" + name)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, b, mode); err != nil {
		return err
	}
	return os.Chmod(to, mode) // also where the file was there before
}
