package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// patience is how long a scenario may take, boot included. Most take 15 s.
const patience = 3 * time.Minute

// boot starts the guest for one scenario and waits until it switches itself
// off. Each scenario has a machine fresh from boot, so none inherits anything.
//
// One processor is enough, and with more of them frames overtake each other
// between two taps. KVM would be faster, but is not there in most containers.
func (l *lab) boot(ctx context.Context, scenario string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	console := l.path("share", scenario, "console")
	cmd := exec.CommandContext(ctx, "qemu-system-x86_64",
		"-accel", "tcg", "-cpu", "max", "-smp", "1", "-m", "1024",
		"-nodefaults", "-no-reboot", "-display", "none", "-monitor", "none", "-serial", "file:"+console,
		"-kernel", l.path("vmlinuz"), "-initrd", l.path("initrd"),
		"-append", "console=ttyS0 quiet loglevel=4 panic=-1 mitigations=off scenario="+scenario,
		"-drive", "file="+l.path("disk")+",if=none,id=disk,format=raw,snapshot=on", "-device", "virtio-blk-pci,drive=disk",
		"-virtfs", "local,path="+l.path("share")+",mount_tag=share,security_model=none,multidevs=remap")
	out, err := cmd.CombinedOutput()
	if err == nil && l.has("share/"+scenario+"/done")() {
		return nil
	}
	said, _ := os.ReadFile(console)
	return fmt.Errorf("the guest did not finish (%v)\n%s\n%s", err, out, tail(string(said), 20))
}

// prepare fills the folder that the guest works in.
func (l *lab) prepare(s *scenario) error {
	dir := l.path("share", s.Name)
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := l.writeGuest("lib.sh", l.path("share", "lib.sh"), 0o644); err != nil {
		return err
	}
	return os.WriteFile(l.path("share", s.Name, "script"), []byte(s.script()), 0o644)
}
