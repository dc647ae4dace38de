package ib_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"testing"
)

// vector is one packet of the shared test vectors.
type vector struct {
	Name      string
	Hex       string
	LinkType  int
	ICRC      string
	ICRCState string `json:"icrc_state"`
}

func (v *vector) bytes(t testing.TB) []byte {
	b, err := hex.DecodeString(v.Hex)
	if err != nil {
		t.Fatalf("%s: %v", v.Name, err)
	}
	return b
}

// vectors reads the shared test vectors and skips the test where they are not
// beside the repository.
func vectors(t testing.TB) []vector {
	const name = "../../../shared/vectors/vectors.json"
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the shared test vectors are not here: %s", name)
	}
	if err != nil {
		t.Fatal(err)
	}
	var vs []vector
	if err := json.Unmarshal(b, &vs); err != nil {
		t.Fatal(err)
	}
	return vs
}

func vectorNamed(t testing.TB, prefix string) []byte {
	for _, v := range vectors(t) {
		if v.Name[:len(prefix)] == prefix {
			return v.bytes(t)
		}
	}
	t.Fatalf("no vector %s", prefix)
	return nil
}
