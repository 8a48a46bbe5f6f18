// SPDX-License-Identifier: MIT

//go:build linux

package mirror

import (
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"timebase.example/timebase/internal/counter"
	"timebase.example/timebase/internal/fault"
	"timebase.example/timebase/internal/line"
)

// sleeping moves the kernel's clocks, as a sleep moves them against the counter.
func sleeping(t *testing.T) (mono, utc *atomic.Int64) {
	was := kernelNS
	t.Cleanup(func() { kernelNS = was })
	mono, utc = new(atomic.Int64), new(atomic.Int64)
	kernelNS = func(id int) (int64, bool) {
		ns, ok := was(id)
		if id == counter.Monotonic {
			return ns + mono.Load(), ok
		}
		return ns + utc.Load(), ok
	}
	return mono, utc
}

func TestOverdueLinesThatHavePartedAreNotFollowed(t *testing.T) {
	mono, utc := sleeping(t)
	w := newWriter(t)
	m := attach(t, w)
	before := m.Read()
	age(230) // the lines want renewal after 200 ms
	mono.Store(50_000_000)
	utc.Store(3_050_000_000)
	age(25)
	first, _ := lookAtClocks()
	now := m.Read()
	last, _ := lookAtClocks()
	if status(now) != line.Unreliable || isOutside(now.UTC, first.utc, last.utc, 5_000_000) || now.Mono < before.Mono {
		t.Errorf("%+v, and the clocks %+v, %+v", now, first, last)
	}
	if a := m.Attachment(); !errors.Is(a.Err, fault.Disrupted) {
		t.Errorf("%+v", a)
	}
	// The same for who finds another at the lock: it waits for it, once.
	m.mu.Lock()
	go func() { age(40); m.mu.Unlock() }()
	age(25)
	if now := m.Read(); status(now) != line.Unreliable {
		t.Errorf("%+v", now)
	}
}

func TestATimeNamespaceIsExplained(t *testing.T) {
	mono, _ := sleeping(t)
	was := procSelf
	t.Cleanup(func() { procSelf = was })
	folder := t.TempDir()
	procSelf = folder
	os.Mkdir(filepath.Join(folder, "ns"), 0o755)
	os.Symlink("time:[1]", filepath.Join(folder, "ns/time"))
	os.Symlink("time:[1]", filepath.Join(folder, "ns/time_for_children"))
	offsets := []byte("monotonic           1000         500\nboottime            1000         500\n")
	os.WriteFile(filepath.Join(folder, "timens_offsets"), offsets, 0o644)
	w := newWriter(t)
	mono.Store(1000_000_000_500)
	if a := attach(t, w).Attachment(); a.MonoOffsetNS != 1000_000_000_500 {
		t.Errorf("%+v", a)
	}
	mono.Store(2000_000_000_000)
	refuses(t, w.Path, fault.Stale, "CLOCK_MONOTONIC")
	os.Remove(filepath.Join(folder, "timens_offsets")) // then UTC decides alone
	if a := attach(t, w).Attachment(); sizeOf(a.MonoOffsetNS-2000_000_000_000) > toleranceNS {
		t.Errorf("%+v", a)
	}
}

func TestWithoutClocksThereIsNothingToCompareWith(t *testing.T) {
	was := kernelNS
	defer func() { kernelNS = was }()
	w := newWriter(t)
	kernelNS = func(int) (int64, bool) { return 0, false }
	refuses(t, w.Path, fault.Reference, "sandbox")
}

func vmPage(marker, generation uint64, status byte) witness {
	w := make(witness, vmPageSize)
	put := func(at int, value uint64, bytes int) {
		for i := 0; i < bytes; i++ {
			w[at+i] = byte(value >> (8 * i))
		}
	}
	put(vmMagicAt, vmMagic, 4)
	put(vmSizeAt, 0x70, 4)
	put(vmVersionAt, vmVersion, 2)
	put(vmSeqAt, 8, 4)
	put(vmMarkerAt, marker, 8)
	put(vmFlagsAt, vmGenerationPresent, 8)
	put(vmGenerationAt, generation, 8)
	w[vmStatusAt] = status
	return w
}

func TestTheWitnessTellsOfAMove(t *testing.T) {
	if w := vmPage(7, 9, 2); !w.isVMClock() {
		t.Fatal("that is a vmclock page")
	}
	m := moved{witness: vmPage(7, 9, 2)}
	m.mark = m.witness.read()
	m.notePage(1)
	m.look()
	if m.distrusts() || m.mark.marker != 7 || m.mark.generation != 9 {
		t.Fatalf("%+v", m.mark)
	}
	for _, next := range []witness{vmPage(8, 9, 2), vmPage(8, 10, 2)} {
		m.witness = next
		m.look()
		if !m.distrusts() {
			t.Fatal("a move was not noticed")
		}
		m.notePage(m.marker) // the daemon has not seen it
		if !m.distrusts() {
			t.Fatal("believed too early")
		}
		m.notePage(m.marker + 1)
		if m.distrusts() {
			t.Fatal("the daemon has published it")
		}
	}
	m.witness = vmPage(8, 10, vmUnreliable)
	m.look()
	if !m.distrusts() {
		t.Fatal("the hypervisor said so")
	}
	m.witness = vmPage(8, 10, 2)
	m.witness[vmSeqAt] = 9 // being written, and it may be a move
	m.look()
	if !m.distrusts() {
		t.Fatal("it may have moved")
	}
}

func TestAMoveMakesLinesUnreliable(t *testing.T) {
	w := newWriter(t)
	m := attach(t, w)
	m.moved.witness = vmPage(1, 0, 2)
	m.moved.mark = m.moved.witness.read()
	m.moved.witness = vmPage(2, 0, 2)
	defer func() { m.moved.witness = nil }()
	age(25)
	if now := m.Read(); status(now) != line.Unreliable {
		t.Errorf("%+v", now)
	}
}
