// SPDX-License-Identifier: MIT

//go:build linux

package timebase

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"os"
	"testing"
	"time"

	"timebase.example/timebase/internal/counter"
	"timebase.example/timebase/internal/line"
)

func TestIntervals(t *testing.T) {
	a, b, c := Interval{1, 5}, Interval{6, 9}, Interval{5, 6}
	empty := Interval{5, 4}
	for _, check := range []struct {
		is   bool
		what string
	}{
		{a.Before(b), "a before b"}, {!b.Before(a), "b not before a"}, {!a.Overlaps(b), "a, b apart"},
		{a.Overlaps(c) && c.Overlaps(a), "a, c overlap"}, {!a.Before(c), "a not before c"},
		{a.Contains(5) && a.Contains(1) && !a.Contains(6), "a contains its ends"},
		{a.Intersect(c) == Interval{5, 5}, "a and c"}, {a.Intersect(b).IsEmpty(), "a and b"},
		{empty.IsEmpty() && empty.Width() == 0, "empty"},
		{!empty.Before(b) && !a.Before(empty) && !empty.Overlaps(empty) && !empty.Contains(4), "empty is nowhere"},
		{a.Width() == 4, "width"},
		{Interval{math.MinInt64, math.MaxInt64}.Width() == math.MaxInt64, "width saturates"},
		{IntervalAround(math.MaxInt64-1, 5) == Interval{math.MaxInt64 - 6, math.MaxInt64}, "cut off above"},
		{IntervalAround(math.MinInt64+1, 5) == Interval{math.MinInt64, math.MinInt64 + 6}, "cut off below"},
		{IntervalAround(7, 0) == Interval{7, 7}, "no error"},
		{IntervalAround(7, -1).IsEmpty(), "an error below 0"},
		{a.EarliestTime().UnixNano() == 1 && a.LatestTime().UnixNano() == 5, "as times"},
	} {
		if !check.is {
			t.Error(check.what)
		}
	}
}

func TestNames(t *testing.T) {
	for got, want := range map[string]string{
		StatusSynchronized.String(): "SYNCHRONIZED", Status(9).String(): "status 9",
		CounterX86TSC.String(): "x86 TSC", CounterID(99).String(): "unknown counter",
		Source(9).String(): "time.Now", AttachmentState(9).String(): "not attached",
		empty.String(): "no moment",
	} {
		if got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
	if id := Counter(); id == CounterOS && counter.IsReadable() {
		t.Errorf("this process reads %v; the processor's counter can be read: %v", id, counter.IsReadable())
	}
}

var empty = Interval{1, 0}

func TestErrorsAsDurationsSaturate(t *testing.T) {
	i := instantOf(&line.Instant{MaxError: math.MaxUint64, UTCMaxError: 1 << 63, EstError: 7})
	if i.MaxError != math.MaxInt64 || i.UTCMaxError != math.MaxInt64 || i.EstError != 7 {
		t.Errorf("%+v", i)
	}
}

func TestSavedPages(t *testing.T) {
	text, err := os.ReadFile("../../spec/vectors/frequencies.json")
	var content struct {
		Vectors []struct {
			Endian  string `json:"endian"`
			PageHex string `json:"page_hex"`
			Reads   []struct {
				Ticks uint64 `json:"ticks,string"`
				UTC   int64  `json:"utc_ns,string"`
			} `json:"reads"`
			Inverse []struct {
				UTC   *int64 `json:"utc_ns,string"`
				Ticks uint64 `json:"ticks,string"`
			} `json:"inverse"`
		}
	}
	if err == nil {
		err = json.Unmarshal(text, &content)
	}
	if err != nil || len(content.Vectors) == 0 {
		t.Fatal(err)
	}
	for _, v := range content.Vectors {
		b, _ := hex.DecodeString(v.PageHex)
		p, err := ParsePage(b)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range v.Reads {
			if at := p.At(r.Ticks); at.UTC != r.UTC {
				t.Errorf("%s: tick %d: %d, not %d", v.Endian, r.Ticks, at.UTC, r.UTC)
			}
		}
		for _, i := range v.Inverse {
			if i.UTC != nil && p.TicksAtUTC(*i.UTC) != i.Ticks {
				t.Errorf("%s: UTC %d: tick %d, not %d", v.Endian, *i.UTC, p.TicksAtUTC(*i.UTC), i.Ticks)
			}
		}
		for size := 0; size < len(b); size++ {
			if _, err := ParsePage(b[:size]); !errors.Is(err, ErrFormat) {
				t.Fatalf("%d bytes: %v", size, err)
			}
		}
	}
}

func TestASavedPageOfThisMachine(t *testing.T) {
	c, w := newClock(t)
	p, err := ParsePage(w.Bytes())
	if err != nil || p.Counter() != Counter() || p.Seq() != 1 {
		t.Fatal(err)
	}
	now := c.Instant()
	if at := p.At(now.Ticks); at.UTC != now.UTC {
		t.Errorf("%+v, not %+v", at, now)
	}
	if p.TicksAtMono(now.Mono) > now.Ticks {
		t.Error("the first tick of a time is not later than one of its ticks")
	}
}

func TestWaitAfter(t *testing.T) {
	c, _ := newClock(t)
	commit := c.UTC() + 2_000_000
	if err := c.WaitAfter(context.Background(), commit); err != nil {
		t.Fatal(err)
	}
	if i, _ := c.UTCInterval(); i.Earliest <= commit {
		t.Errorf("%v: %d may still be to come", i, commit)
	}
}

func TestWaitBound(t *testing.T) {
	c, w := newClock(t)
	i, err := c.WaitBound(context.Background(), time.Second)
	if err != nil || i.Width() > 2*time.Second {
		t.Fatalf("%v: %v", i, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer cancel()
	if _, err := c.WaitBound(ctx, 1); !errors.Is(err, ErrTimeout) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if err := c.WaitAfter(ctx, math.MaxInt64); !errors.Is(err, ErrTimeout) {
		t.Errorf("%v", err)
	}
	w.Flags = uint32(StatusFreerunning)
	w.Publish()
	for c.Instant().Status() != StatusFreerunning {
		time.Sleep(time.Millisecond)
	}
	if _, err := c.WaitBound(ctx, time.Second); !errors.Is(err, ErrStale) {
		t.Errorf("%v", err)
	}
}

func TestNobodyVouchesForAnEstimate(t *testing.T) {
	var c Clock
	if _, err := c.WaitBound(context.Background(), time.Hour); !errors.Is(err, ErrEstimate) {
		t.Errorf("%v", err)
	}
}

// What a lap of a known number of ticks says, whatever the machine does meanwhile: not less.
func TestStopwatch(t *testing.T) {
	for name, c := range clocks(t) {
		w := NewStopwatch(c)
		if w.Period <= 0 || w.Granularity == 0 { // a coarse counter may show empty laps as nothing
			t.Errorf("%s: %+v", name, w)
		}
		const wait = 3 * time.Millisecond
		e := w.Time(func() {
			for start := time.Now(); time.Since(start) < wait; {
			}
		})
		if e.Duration() < wait-100*time.Microsecond || e.Uncertainty <= 0 {
			t.Errorf("%s: %v of %v, %+v", name, e.Duration(), wait, e)
		}
		outer := w.Start()
		inner := w.Stop(w.Start())
		both := w.Stop(outer)
		if both.Uncertainty <= inner.Uncertainty {
			t.Errorf("%s: %+v, %+v", name, inner, both)
		}
	}
	if d := (Elapsed{NS: -1.6}).Duration(); d != -2 {
		t.Error(d)
	}
}
