package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestUntilReadsAll(t *testing.T) {
	text := strings.Repeat("capture ", 100_000)
	if err := iotest.TestReader(until(context.Background(), strings.NewReader(text)), []byte(text)); err != nil {
		t.Error(err)
	}
}

// TestInterruptEndsASilentPipe starts on a pipe of which nothing more comes.
func TestInterruptEndsASilentPipe(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	go func() {
		small := smallCapture()
		w.Write(small[:300])
		w.Write(small[300:]) // is taken once the capture was opened
		cancel()
	}()
	var stdout, stderr bytes.Buffer
	if got := run(ctx, []string{"-"}, r, &stdout, &stderr); got != exitRan {
		t.Errorf("exit code %d", got)
	}
	if !strings.Contains(stderr.String(), "interrupted") || !strings.Contains(stdout.String(), "Capture ") {
		t.Errorf("printed %q, and said %q", &stdout, &stderr)
	}
	if _, err := until(ctx, r).Read(make([]byte, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("reading after the interrupt gives %v", err)
	}
}

// TestFailingInputIsToldAsDamage reads from a pipe that breaks.
func TestFailingInputIsToldAsDamage(t *testing.T) {
	broken := io.MultiReader(bytes.NewReader(smallCapture()), iotest.ErrReader(errors.New("the cable is cut")))
	var stdout, stderr bytes.Buffer
	if got := run(context.Background(), []string{"-", "--format", "json"}, broken, &stdout, &stderr); got != exitRan {
		t.Errorf("exit code %d", got)
	}
	if !strings.Contains(stderr.String(), "the cable is cut") || !strings.Contains(stdout.String(), `"frames": 10`) {
		t.Errorf("printed %q, and said %q", &stdout, &stderr)
	}
}
