// SPDX-License-Identifier: MIT

//go:build linux

package timebase

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"timebase.example/timebase/internal/line"
	"timebase.example/timebase/internal/pagetest"
)

// far is more than any error of a page of tests, and less than any mistake.
const far = int64(100 * time.Millisecond)

func newClock(t *testing.T) (*Clock, *pagetest.Writer) {
	t.Helper()
	folder, remove, err := pagetest.Folder()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(remove)
	w, err := pagetest.New(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	c, err := Attach(w.Path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c, w
}

func clocks(t *testing.T) map[string]*Clock {
	attached, _ := newClock(t)
	all := map[string]*Clock{"attached": attached, "system": {}, "nil": nil, "default": Default()}
	if own := private(); own != nil {
		all["private"] = own
	}
	return all
}

// Each reading lies between two of the kernel's clock.
func TestReadingsAreTheTime(t *testing.T) {
	for name, c := range clocks(t) {
		for what, read := range map[string]func() int64{
			"UTC":          c.UTC,
			"UTCUnordered": c.UTCUnordered,
			"Instant":      func() int64 { return c.Instant().UTC },
			"Now":          func() int64 { return c.Now().UnixNano() },
			"UTCInterval": func() int64 {
				i, _ := c.UTCInterval()
				return i.Earliest/2 + i.Latest/2
			},
			"TAI": func() int64 {
				offset, _ := c.Instant().Flags.TAIOffset()
				return c.TAI() - int64(offset)
			},
		} {
			first := time.Now().UnixNano()
			got := read()
			last := time.Now().UnixNano()
			if got < first-far || got > last+far {
				t.Errorf("%s: %s: %d is not between %d and %d", name, what, got, first, last)
			}
		}
	}
}

func TestMonotonicTimeIsSinceBoot(t *testing.T) {
	for name, c := range clocks(t) {
		first := c.Mono()
		kernel := time.Duration(system{}.now().Mono)
		unordered, last := c.MonoUnordered(), c.Mono()
		if kernel < first-time.Duration(far) || kernel > last+time.Duration(far) || last < first {
			t.Errorf("%s: %v, %v, %v, and the kernel %v", name, first, unordered, last, kernel)
		}
	}
}

func TestTheSourceIsTold(t *testing.T) {
	for name, want := range map[string]Source{"attached": SourcePage, "system": SourceSystem,
		"nil": SourceSystem, "default": SourcePage} {
		if got := clocks(t)[name].Source(); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if s := (&Clock{}).Instant(); s.Status() != StatusFreerunning || s.Flags&FlagEstimate == 0 {
		t.Errorf("time.Now promises nothing: %+v", s)
	}
}

// inProgram runs f as if the program had just begun, with this page for the daemon's.
func inProgram(path string, f func()) {
	was, page := standard.Load(), defaultPage
	standard.Store(nil)
	defaultPage = path
	f()
	standard.Store(was)
	defaultPage = page
}

func TestWithoutAPageTheDefaultSaysWhy(t *testing.T) {
	inProgram("/nowhere/page", func() {
		ns := UTC()
		c := Default()
		best := SourceSystem
		if private() != nil {
			best = SourcePrivate
		}
		if c.Source() != best || !errors.Is(c.Err(), ErrNotFound) || !errors.Is(c.Err(), fs.ErrNotExist) {
			t.Errorf("%v, because %v", c.Source(), c.Err())
		}
		if off := time.Now().UnixNano() - ns; off < 0-far || Now().UnixNano() < ns {
			t.Errorf("%d ns off", off)
		}
		if best == SourceSystem {
			if _, err := c.TicksAtUTC(ns); !errors.Is(err, ErrUnsupported) {
				t.Errorf("%v: by time.Now ticks mean nothing", err)
			}
			if at := At(Ticks()); at.Status() != StatusUnknown {
				t.Errorf("%+v", at)
			}
		}
	})
	inProgram(writer.Path, func() {
		if c := Default(); c.Source() != SourcePage || c.Err() != nil {
			t.Errorf("%v, because %v", c.Source(), c.Err())
		}
	})
}

func TestGoroutinesThatChooseAtOnceAgree(t *testing.T) {
	inProgram(writer.Path, func() {
		var all sync.WaitGroup
		chosen := make([]*Clock, 8)
		for i := range chosen {
			all.Add(1)
			go func(i int) { defer all.Done(); chosen[i] = Default() }(i)
		}
		all.Wait()
		for _, c := range chosen {
			if c != chosen[0] {
				t.Error("two default clocks")
			}
		}
	})
}

func TestSetDefault(t *testing.T) {
	c, _ := newClock(t)
	was := SetDefault(c)
	defer SetDefault(was)
	if Default() != c || SetDefault(nil) != c || Default() != c {
		t.Error("the default clock is not the one that was set")
	}
}

func TestAttachSaysWhatIsWrong(t *testing.T) {
	_, w := newClock(t)
	short := filepath.Join(filepath.Dir(w.Path), "short")
	os.WriteFile(short, make([]byte, 100), 0o644)
	for path, want := range map[string]error{"/nowhere/page": ErrNotFound, short: ErrFormat, "/dev/null": ErrUntrusted} {
		c, err := Attach(path)
		var of *Error
		if c != nil || !errors.Is(err, want) || !errors.As(err, &of) || !strings.HasPrefix(path, of.Path) {
			t.Errorf("%s: %v", path, err)
		}
		if c, err := AttachOrDefault(path); c != Default() || !errors.Is(err, want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if c, err := AttachOrDefault(w.Path); err != nil || c.Source() != SourcePage {
		t.Errorf("%v", err)
	}
}

// What a tick meant when it was read, it means later, and backwards.
func TestTicksAreConvertedLater(t *testing.T) {
	c, _ := newClock(t)
	for i := 0; i < 100; i++ {
		now := c.Instant()
		at := c.At(now.Ticks)
		if at.UTC != now.UTC || at.Mono != now.Mono || c.UTCAt(now.Ticks) != now.UTC ||
			c.MonoAt(now.Ticks) != now.Mono || c.TAIAt(now.Ticks) != now.UTC+37e9 {
			t.Fatalf("%+v, then %+v", at, now)
		}
		back, err := c.TicksAtUTC(now.UTC)
		mono, _ := c.TicksAtMono(now.Mono)
		if err != nil || c.UTCAt(back) != now.UTC || back > now.Ticks || back != mono || c.UTCAt(back-1) >= now.UTC {
			t.Fatalf("%d is at tick %d, not %d: %v", now.UTC, now.Ticks, back, err)
		}
	}
}

func TestIntervalsContainWhatWasRead(t *testing.T) {
	c, _ := newClock(t)
	first := c.UTC()
	i, status := c.UTCInterval()
	r, _ := c.RealtimeInterval()
	last := c.UTC()
	if status != StatusSynchronized || i.Latest < first || i.Earliest > last || i.Width() < r.Width() {
		t.Errorf("%v %v %v: between %d and %d", i, r, status, first, last)
	}
}

func TestReadingsGoOnAfterClose(t *testing.T) {
	c, _ := newClock(t)
	first := c.UTC()
	c.Close()
	time.Sleep(25 * time.Millisecond)
	if c.UTC() <= first || !errors.Is(c.Maintain(), ErrInvalid) {
		t.Error("time stands still")
	}
	if a := c.Attachment(); a.State != AttachmentCurrent || !errors.Is(a.Err, ErrInvalid) || a.Seq != 1 {
		t.Errorf("%+v", a)
	}
}

// ---- time.Time

func TestNowIsTheClocksUTC(t *testing.T) {
	c, w := newClock(t)
	for i := 0; i < 1000; i++ {
		before, now, after := c.UTC(), c.Now(), c.UTC()
		if ns := now.UnixNano(); ns < before || ns > after {
			t.Fatalf("%d is not between %d and %d", ns, before, after)
		}
		if off := time.Until(now); off > time.Duration(far) || !strings.Contains(now.String(), "m=") {
			t.Fatalf("%v is %v off time.Now", now, off)
		}
	}
	// A step of UTC of 200 us: the monotonic reading goes on.
	old := c.Now()
	lines := w.Next()
	for _, l := range []*line.Line{&lines.Slew, &lines.After} {
		l.UTC += 200_000
	}
	if err := w.Store(lines); err != nil {
		t.Fatal(err)
	}
	offset := lines.Before.UTCOffset()
	for stepped := offset + 200_000; offset != stepped; {
		i, now := c.Instant(), c.Now()
		if now.Sub(old) < 0 {
			t.Fatalf("%v after %v", now, old)
		}
		old, offset = now, i.UTC-int64(i.Mono)
	}
	before, now, after := c.UTC(), c.Now(), c.UTC()
	if ns := now.UnixNano(); now.Sub(old) < 0 || ns < before || ns > after {
		t.Errorf("%v after %v: %d is not between %d and %d", now, old, ns, before, after)
	}
}

// Of a few readings the one is taken that does not set the monotonic part back.
func TestAStepOfUTCDoesNotSetTheMonotonicReadingBack(t *testing.T) {
	defer func() { sampleWall = wallAt }()
	c, _ := newClock(t)
	c.Now()
	before, samples := c.wall.Load(), 0
	sampleWall = func(offset int64) *wall {
		samples++
		w := wallAt(offset)
		w.mono = before.mono + int64(w.base.Sub(before.base))
		if samples < 3 {
			w.mono += int64(3-samples) * 40 // a reading that is too early
		}
		return w
	}
	w := c.newWall(before, before.offset)
	if samples < 3 || w.gain(before) != 0 {
		t.Errorf("of %d samples one was taken that gains %v", samples, w.gain(before))
	}
}

// Held up between the two readings of time.Now, the first of which is the wall clock's.
func TestOfSeveralLooksTheNarrowestIsTaken(t *testing.T) {
	defer func() { sampleWall = wallAt }()
	c, _ := newClock(t)
	var held *wall
	sampleWall = func(offset int64) *wall {
		w := wallAt(offset)
		if held == nil {
			held = w
			w.mono -= wallMax / 2
			time.Sleep(50 * time.Millisecond)
		}
		return w
	}
	c.Now()
	if c.wall.Load() == held {
		t.Error("the look was taken that was held up")
	}
}

func TestNowHasAMonotonicReadingAfterBeingHeldUp(t *testing.T) {
	defer func() { sampleWall = wallAt }()
	c, _ := newClock(t)
	sampleWall = func(offset int64) *wall {
		time.Sleep(3 * time.Duration(wallMax))
		w := wallAt(offset)
		time.Sleep(3 * time.Duration(wallMax))
		return w
	}
	if now := c.Now(); !strings.Contains(now.String(), "m=") {
		t.Errorf("%v", now)
	}
}

func TestNowHasNoMonotonicReadingWhileTheSystemClockIsElsewhere(t *testing.T) {
	c, w := newClock(t)
	lines := w.Next()
	for _, l := range []*line.Line{&lines.Slew, &lines.After} {
		l.UTC += 5_000_000
	}
	if err := w.Store(lines); err != nil {
		t.Fatal(err)
	}
	for c.Instant().UTC-int64(c.Instant().Mono) < lines.After.UTCOffset()-1_000_000 {
	}
	if now := c.Now(); strings.Contains(now.String(), "m=") {
		t.Errorf("%v", now)
	}
}

// ---- no allocation

func TestReadingsAllocateNothing(t *testing.T) {
	c, _ := newClock(t)
	c.Now()
	for name, read := range map[string]func(){
		"UTC":      func() { c.UTC() },
		"Mono":     func() { c.Mono() },
		"Now":      func() { c.Now() },
		"Instant":  func() { c.Instant() },
		"Interval": func() { c.UTCInterval() },
		"At":       func() { c.At(0) },
	} {
		if n := testing.AllocsPerRun(1000, read); n >= 1 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
