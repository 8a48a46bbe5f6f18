// SPDX-License-Identifier: MIT

//go:build linux

package mirror

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"timebase.example/timebase/internal/counter"
	"timebase.example/timebase/internal/fault"
	"timebase.example/timebase/internal/line"
	"timebase.example/timebase/internal/page"
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

// What is shown stays to its end where the clocks lie lower, and whoever asks is told all the same.
func TestWhoAsksAgainWithinTheLeaseIsToldAgain(t *testing.T) {
	mono, _ := sleeping(t)
	w := newWriter(t)
	m := attach(t, w)
	age(230)
	m.Read()
	mono.Store(-50_000_000)
	for i := 0; i < 3; i++ {
		if err := m.Maintain(); !errors.Is(err, fault.Disrupted) {
			t.Errorf("look %d: %v", i, err)
		}
	}
}

// Lines over a counter that the kernel has thrown away are not followed, however new they are.
func TestACounterThatTheKernelDistrustsIsReadByTheClocks(t *testing.T) {
	_, utc := sleeping(t)
	w := newWriter(t)
	m := attach(t, w)
	before := m.Read()
	w.Flags |= line.CounterDistrusted
	if err := w.Publish(); err != nil {
		t.Fatal(err)
	}
	utc.Store(700_000) // the lines agree with that
	age(25)
	now := m.Read()
	lines := w.Lines()
	if ahead := now.UTC - lines.At(now.Ticks).UTC; status(now) != line.Unreliable || ahead < 300_000 {
		t.Errorf("%+v, %d ns ahead of the writer's", now, ahead)
	}
	if now.Mono < before.Mono || now.Flags&line.CounterDistrusted == 0 {
		t.Errorf("%+v after %+v", now, before)
	}
	if a := m.Attachment(); a.Err != nil {
		t.Errorf("%+v", a)
	}
}

// goBack: the counter stands `by` ticks before where it was. The counter cannot be moved, so all that
// the mirror has kept is moved the other way.
func goBack(m *Mirror, by uint64) {
	later := func(l line.Lines) line.Lines {
		for _, of := range []*line.Line{&l.Before, &l.Slew, &l.After} {
			of.Start += by
		}
		return l
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lines = later(m.lines)
	m.changed += by
	m.lookUp += by
	for _, p := range []*page.Page{m.shown, m.whole} {
		lines, _, _ := p.Lines()
		moved := later(lines)
		p.Publish(&moved, p.Refresh())
	}
}

// onTheClocks reads, and fails if that is not between two looks at the clocks, or not UNRELIABLE.
func onTheClocks(t *testing.T, m *Mirror) line.Instant {
	t.Helper()
	first, _ := lookAtClocks()
	now := m.Read()
	last, _ := lookAtClocks()
	if status(now) != line.Unreliable || isOutside(now.UTC, first.utc, last.utc, 5_000_000) {
		t.Errorf("%+v, and the clocks %+v, %+v", now, first, last)
	}
	return now
}

// The writer's lines are as good as new there, and nobody draws them that far back.
func TestLinesAreNotDrawnBackForACounterThatWentBack(t *testing.T) {
	mono, _ := sleeping(t)
	w := newWriter(t)
	m := attach(t, w)
	before := m.Read()
	lines := w.Lines()
	tenMinutes := 600 * lines.Ticks(1_000_000_000)
	goBack(m, tenMinutes)
	mono.Store(-5_000_000) // the lines were ahead of the clock
	now := onTheClocks(t, m)
	if now.Mono < before.Mono {
		t.Errorf("%+v after %+v", now, before)
	}
	if a := m.Attachment(); !errors.Is(a.Err, fault.Disrupted) {
		t.Errorf("%+v", a)
	}
	at := m.Lines()
	if then := at.At(now.Ticks); status(then) != line.Unreliable {
		t.Errorf("%+v", then)
	}
	age(25)
	onTheClocks(t, m)
	// The same for who finds another at the lock: it waits for it, once.
	goBack(m, tenMinutes)
	m.mu.Lock()
	go func() { age(40); m.mu.Unlock() }()
	onTheClocks(t, m)
	if err := w.Publish(); err != nil {
		t.Fatal(err)
	}
	age(25)
	if now := m.Read(); status(now) != line.Synchronized {
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
	return vmPageOf(8, marker, generation, vmGenerationPresent, 0x70, uint64(status))
}

func vmPageOf(seq, marker, generation, flags, size, status uint64) witness {
	w := make(witness, vmPageSize)
	put := func(at int, value uint64, bytes int) {
		for i := 0; i < bytes; i++ {
			w[at+i] = byte(value >> (8 * i))
		}
	}
	put(0x00, 0x4b4c4356, 4)
	put(0x04, size, 4)
	put(0x08, 1, 2)
	put(0x0c, seq, 4)
	put(0x10, marker, 8)
	put(0x18, flags, 8)
	put(0x22, status, 1)
	put(0x68, generation, 8)
	return w
}

// The same table as C's and Rust's.
func TestMovesAreNoticedAsByC(t *testing.T) {
	text, err := os.ReadFile("../../../conformance/moves")
	if err != nil {
		t.Fatal(err)
	}
	var m moved
	steps := 0
	for _, step := range strings.Split(string(text), "\n") {
		var seq, marker, generation, flags, size, status, accounted uint64
		name, _, _ := strings.Cut(step, " ")
		event, verdict, isStep := strings.Cut(step, "->")
		if !isStep || strings.HasPrefix(step, "#") {
			continue
		}
		if n, _ := fmt.Sscanf(event, name+" %d %d %d %d %d %d", &seq, &marker, &generation, &flags, &size, &status); n == 6 {
			m.witness = vmPageOf(seq, marker, generation, flags, size, status)
			m.look()
			if name == "vm" {
				m.noteSame()
			}
		} else if n, _ := fmt.Sscanf(event, "page %d %d %d", &marker, &size, &accounted); n >= 2 {
			for ; size > 0; size-- {
				m.notePage(marker, accounted)
			}
		} else {
			t.Fatalf("no step: %s", step)
		}
		left := map[uint32]string{line.Synchronized: "trusted", line.Freerunning: "freerunning", line.Unreliable: "unreliable"}
		if said := left[m.status(line.Synchronized)]; said != strings.TrimSpace(verdict) {
			t.Fatalf("%s after: %s", said, step)
		}
		steps++
	}
	if steps < 20 {
		t.Errorf("%d steps", steps)
	}
}

func TestAnotherPageIsNoWitness(t *testing.T) {
	if !vmPage(7, 9, 2).isVMClock() || make(witness, vmPageSize).isVMClock() {
		t.Error("that is a vmclock page, and that is none")
	}
}

func TestAMoveMakesLinesUnreliableAndThenUTCUnpromised(t *testing.T) {
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
	m.moved.pages = movedPagesMin
	age(25)
	if now := m.Read(); status(now) != line.Freerunning {
		t.Errorf("%+v", now)
	}
	m.moved.notePage(m.moved.marker+1, 0)
	age(25)
	if now := m.Read(); status(now) != line.Synchronized {
		t.Errorf("%+v", now)
	}
}

// The lines that were copied last go on; a page that is not mapped any more says nothing of a move.
func TestAClosedClockGoesOnInAGuestWithAWitness(t *testing.T) {
	w := newWriter(t)
	m := attach(t, w)
	m.moved.witness = vmPage(1, 0, 2)
	m.moved.mark = m.moved.witness.read()
	age(25)
	if now := m.Read(); status(now) != line.Synchronized {
		t.Errorf("%+v", now)
	}
	m.Close()
	age(25)
	if now := m.Read(); status(now) != line.Synchronized {
		t.Errorf("%+v", now)
	}
}
