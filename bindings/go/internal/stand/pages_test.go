// SPDX-License-Identifier: MIT

//go:build linux

package stand

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"timebase.example/timebase"
)

var errorsByName = map[string]error{
	"OK":                     nil,
	"TIMEBASE_E_NOT_FOUND":   timebase.ErrNotFound,
	"TIMEBASE_E_UNTRUSTED":   timebase.ErrUntrusted,
	"TIMEBASE_E_FORMAT":      timebase.ErrFormat,
	"TIMEBASE_E_UNSUPPORTED": timebase.ErrUnsupported,
	"TIMEBASE_E_STALE":       timebase.ErrStale,
}

// Files good and bad: each is accepted, or refused by its name, as in C.
func TestPages(t *testing.T) {
	folder := t.TempDir()
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if output, err := program(t, "TIMEBASE_PAGES", folder).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	text, err := os.ReadFile(filepath.Join(folder, "expected"))
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(rows) < 10 {
		t.Fatalf("only %d files", len(rows))
	}
	for _, row := range rows {
		words := strings.Fields(row)
		if len(words) != 3 {
			t.Fatalf("%q is not: name, error, status", row)
		}
		t.Run(words[0], func(t *testing.T) { try(t, filepath.Join(folder, words[0]), words[1], words[2]) })
	}
}

func try(t *testing.T, path, name, status string) {
	want, known := errorsByName[name]
	if !known {
		t.Fatalf("no such error: %s", name)
	}
	c, err := timebase.Attach(path)
	if !errors.Is(err, want) {
		t.Fatalf("%v, and it should be %v", err, want)
	}
	if err != nil {
		t.Log(err)
		return
	}
	defer c.Close()
	if now := c.Instant(); now.Status().String() != status {
		t.Errorf("%v, and it should be %s", now.Status(), status)
	}
}
