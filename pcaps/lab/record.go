package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// record records scenarios: each capture and the truth into one folder, and
// what is a sample into another.
func (l *lab) record(ctx context.Context, results, samples string, names []string) error {
	todo, err := named(names)
	if err != nil {
		return err
	}
	if err := errors.Join(missing(toRecord...), l.built()); err != nil {
		return err
	}
	l.say("recording %d scenarios into %s", len(todo), results)
	var failed error
	for _, s := range todo {
		start := time.Now()
		t, err := l.recordOne(ctx, s, results, samples)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", s.Name, err))
			l.say("%-28s failed", s.Name)
			continue
		}
		l.say("%-28s %4.1f s  %s", s.Name, time.Since(start).Seconds(), t.summary())
	}
	return failed
}

func (l *lab) built() error {
	for _, f := range []string{"vmlinuz", "initrd", "disk", "share/traffic"} {
		if !l.has(f)() {
			return fmt.Errorf("there is no %s; build the guest first: go run ./pcaps/lab build", l.path(f))
		}
	}
	return nil
}

func (l *lab) recordOne(ctx context.Context, s *scenario, results, samples string) (*truth, error) {
	if err := l.prepare(s); err != nil {
		return nil, err
	}
	if err := l.boot(ctx, s.Name); err != nil {
		return nil, err
	}
	r := &recording{scenario: s, dir: l.path("share", s.Name)}
	if err := r.read(); err != nil {
		return nil, err
	}
	t, err := r.truth()
	if err != nil {
		return nil, err
	}
	if err := r.keep(t, results); err != nil {
		return nil, err
	}
	if samples == "" || len(s.Sample.Points) == 0 {
		return t, nil
	}
	return t, r.keepSample(t, samples)
}

// keep hands out the captures as tcpdump wrote them, and the truth.
func (r *recording) keep(t *truth, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, tap := range r.scenario.Taps {
		data, err := os.ReadFile(r.capture(tap.Point))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, t.file(tap.Point)), data, 0o644); err != nil {
			return err
		}
	}
	return writeJSON(filepath.Join(dir, r.scenario.Name+".truth.json"), t)
}

// summary is the truth in a few words.
func (t *truth) summary() string {
	var parts []string
	for _, c := range t.Captures {
		parts = append(parts, fmt.Sprintf("%s %d", c.Tap, c.Frames))
	}
	out := "frames: " + strings.Join(parts, ", ")
	for _, d := range t.Between {
		if d.LostTotal+d.Late+d.Copies+d.Damaged > 0 {
			out += fmt.Sprintf("; %s-%s from %s: %d lost", d.From, d.To, d.Src, d.LostTotal)
		}
	}
	if n := len(t.Notes); n > 0 {
		out += fmt.Sprintf("; %d notes", n)
	}
	return out
}
