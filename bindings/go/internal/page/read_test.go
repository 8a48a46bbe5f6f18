// SPDX-License-Identifier: MIT

package page

import (
	"math/rand"
	"testing"
	"unsafe"

	"timebase.example/timebase/internal/counter"
	"timebase.example/timebase/internal/line"
)

var heapPage *Page

// The offsets that read_*.s have by hand, and that the specification has.
func TestOffsets(t *testing.T) {
	var p Page
	for _, c := range []struct {
		name      string
		got, want uintptr
	}{
		{"page", unsafe.Sizeof(p), Size},
		{"refresh", unsafe.Offsetof(p.refresh), 8},
		{"magic", unsafe.Offsetof(p.magicSize), 16},
		{"version", unsafe.Offsetof(p.versionCounter), 24},
		{"disruption", unsafe.Offsetof(p.disruption), 32},
		{"utc steps", unsafe.Offsetof(p.utcSteps), 40},
		{"late", unsafe.Offsetof(p.late), 48},
		{"incompatible", unsafe.Offsetof(p.incompatible), 56},
		{"copies", unsafe.Offsetof(p.copies), 128},
		{"copy", unsafe.Sizeof(p.copies[0]), 256},
		{"after", afterAt * 8, 128},
		{"mono", monoAt * 8, 8},
		{"utc", utcAt * 8, 16},
		{"frac", fracAt * 8, 24},
		{"period", periodFlagsAt * 8, 32},
		{"validity", silentAt * 8, 192},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, not %d", c.name, c.got, c.want)
		}
	}
	heapPage = new(Page)
	if align := uintptr(unsafe.Pointer(heapPage)) % 64; align != 0 {
		t.Errorf("a page begins %d bytes after a cache line", align)
	}
}

// pageAround makes a page on whose line `which` the counter is now.
func pageAround(dice *rand.Rand, which line.Which) *Page {
	now := counter.Ordered()
	l := line.Line{Mono: uint64(dice.Int63() >> 1), UTC: dice.Uint64(), Frac: dice.Uint64() | 1<<54}
	if dice.Intn(2) == 0 {
		l.Period = uint32(dice.Intn(1000))
	}
	far := uint64(1) << uint(30+dice.Intn(10))
	lines := line.Lines{Before: l, Slew: l, After: l}
	lines.Before.Start, lines.Slew.Start, lines.After.Start = now+far, now+2*far, now+3*far
	switch which {
	case line.After:
		lines.After.Start = now - far
		lines.Slew.Start, lines.Before.Start = now-2*far, now-3*far
	case line.Slew:
		lines.Slew.Start, lines.Before.Start = now-far, now-2*far
	case line.Before:
		lines.Before.Start = now - far
	}
	lines.Slew = following(lines.Before, lines.Slew.Start)
	lines.After = following(lines.Slew, lines.After.Start)
	p := Begin(counter.Here())
	for n := dice.Intn(4); n >= 0; n-- {
		p.Publish(&lines, 1<<50)
	}
	return p
}

// following is the same line from another tick on.
func following(l line.Line, start uint64) line.Line {
	at := l.At(start - l.Start)
	l.Start, l.Mono, l.UTC = start, uint64(at.Mono), uint64(at.UTC)
	return l
}

// The same tick cannot be had twice; so the bound is that of a line whose errors do not grow.
func TestBoundedIsWhatTheLineSays(t *testing.T) {
	dice := rand.New(rand.NewSource(4))
	for i := 0; i < 2000; i++ {
		which := line.Which(dice.Intn(3))
		p := pageAround(dice, which)
		lines, _, _ := p.Lines()
		of := []*line.Line{&lines.Before, &lines.Slew, &lines.After}[which]
		of.MaxError, of.UTCMaxError, of.Flags = uint64(dice.Uint32()), uint64(dice.Uint32()), dice.Uint32()
		p.Publish(&lines, 1<<50)
		first := counter.Begin()
		utc, maxError, utcMaxError, flags, ok := p.Bounded()
		if mono := utc - of.UTCOffset(); !ok || !isOf(p, mono, utc, first, counter.End()) ||
			maxError != of.MaxError || utcMaxError != of.MaxError+of.UTCMaxError || flags != of.Flags {
			t.Fatalf("%d %d %d %#x %v, not %+v", utc, maxError, utcMaxError, flags, ok, of)
		}
		of.DriftRate, of.SlewRate = dice.Uint32(), dice.Uint32()
		p.Publish(&lines, 1<<50)
		before, _ := p.At(counter.Begin())
		_, maxError, utcMaxError, _, _ = p.Bounded()
		after, _ := p.At(counter.End())
		if maxError < before.MaxError || maxError > after.MaxError ||
			utcMaxError < before.UTCMaxError || utcMaxError > after.UTCMaxError {
			t.Fatalf("%d %d: not between %+v and %+v", maxError, utcMaxError, before, after)
		}
	}
}

// isOf tells whether some tick from first to last says this by the page's lines.
func isOf(p *Page, mono, utc int64, first, last uint64) bool {
	lines, _, _ := p.Lines()
	tick := lines.FirstTick(mono, false)
	if int64(tick-first) < 0 {
		tick = first
	}
	at := lines.At(tick)
	return int64(last-tick) >= 0 && at.Mono == mono && at.UTC == utc
}

func TestReadIsWhatTheLineSays(t *testing.T) {
	if HasAssembler && !counter.IsReadable() {
		t.Fatal("this process may not read its counter")
	}
	dice := rand.New(rand.NewSource(1))
	readers := map[string]func(*Page) (int64, int64, bool){
		"Read": Read, "ReadUnordered": ReadUnordered, "ReadAny": (*Page).ReadAny,
	}
	for i := 0; i < 2000; i++ {
		which := line.Which(dice.Intn(3))
		p := pageAround(dice, which)
		for name, read := range readers {
			first := counter.Begin()
			mono, utc, ok := read(p)
			last := counter.End()
			if !ok && which != line.After && HasAssembler && name != "ReadAny" {
				continue // left to ReadAny
			}
			if !ok || !isOf(p, mono, utc, first, last) {
				t.Fatalf("%s of line %d, page %d: %d, %d, %v", name, which, i, mono, utc, ok)
			}
		}
	}
}

func TestInstantIsWhatTheLineSays(t *testing.T) {
	dice := rand.New(rand.NewSource(2))
	for i := 0; i < 2000; i++ {
		p := pageAround(dice, line.Which(dice.Intn(3)))
		var now line.Instant
		ok := p.Instant(&now)
		lines, _, _ := p.Lines()
		lines.Validity.Silent, lines.Validity.Void = line.Never, line.Never
		if want := lines.At(now.Ticks); !ok || now != want {
			t.Fatalf("%+v, not %+v (%v)", now, want, ok)
		}
	}
}

func TestNothingIsReadWithoutALine(t *testing.T) {
	dice := rand.New(rand.NewSource(3))
	empty := Begin(counter.Here())
	old := pageAround(dice, line.After)
	lines, _, _ := old.Lines()
	old.Publish(&lines, 0) // to be renewed long ago
	to := pageAround(dice, line.After)
	lines.Before.Start, lines.Slew.Start, lines.After.Start = 1<<62+lines.After.Start, 1<<62+lines.After.Start, 1<<62+lines.After.Start
	to.Publish(&lines, 1<<50) // the counter went back
	for name, p := range map[string]*Page{"empty": empty, "overdue": old, "to come": to} {
		_, _, read := Read(p)
		_, _, unordered := ReadUnordered(p)
		_, _, any := p.ReadAny()
		var now line.Instant
		instant := p.Instant(&now)
		_, _, _, _, bounded := p.Bounded()
		if read || unordered || any || instant || bounded {
			t.Errorf("%s: %v %v %v %v", name, read, unordered, any, instant)
		}
	}
}
