package main

import (
	"bytes"
	"context"
	"os"
)

// beforeDisk are the modules without which the guest cannot mount its disk and
// the folder it shares with the host.
const beforeDisk = "virtio_pci virtio_blk ext4 9pnet_virtio 9p"

// initrd packs busybox and these modules, each with those it needs, listed in
// the order to load them.
func (l *lab) initrd(ctx context.Context) error {
	if err := l.shell(ctx, `rm -rf early; mkdir -p early/{bin,proc,dev,disk,modules}
		cp root/bin/busybox early/bin/; for a in sh mount umount insmod switch_root sleep; do ln -s busybox early/bin/$a; done`); err != nil {
		return err
	}
	if err := l.writeGuest("initrd", l.path("early", "init"), 0o755); err != nil {
		return err
	}
	return l.shell(ctx, `V=$(ls root/lib/modules)
		for m in `+beforeDisk+`; do chroot root modprobe -S "$V" --show-depends $m; done | awk '/^insmod/ && !seen[$2]++ {print $2}' |
		while read -r f; do
			cp "root/$f" early/modules/; b=$(basename "$f")
			case $b in *.xz) xz -d "early/modules/$b"; b=${b%%.xz};; esac
			echo "$b" >>early/modules/list
		done
		cd early; find . | cpio -o -H newc --quiet | gzip -1 >../initrd`)
}

// diskIsFresh reports whether the disk was made, with the init of today.
func (l *lab) diskIsFresh() bool {
	want, _ := guest.ReadFile("guest/init")
	have, err := os.ReadFile(l.path("root", "sbin", "init"))
	return err == nil && bytes.Equal(want, have) && l.has("disk")()
}

// disk makes a file system of the root.
func (l *lab) disk(ctx context.Context) error {
	if err := l.writeGuest("init", l.path("root", "sbin", "init"), 0o755); err != nil {
		return err
	}
	return l.shell(ctx, `rm -f disk.new disk; mke2fs -q -t ext4 -d root disk.new 1200M; mv disk.new disk`)
}
