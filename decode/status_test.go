package decode

import "testing"

func TestStatusString(t *testing.T) {
	seen := map[string]bool{}
	for s := Status(0); s < NumStatus; s++ {
		name := s.String()
		if name == "" || seen[name] {
			t.Errorf("status %d is called %q", uint8(s), name)
		}
		seen[name] = true
	}
	if got := Status(NumStatus + 1).String(); got != "status 12" {
		t.Errorf("got %q", got)
	}
}
