// SPDX-License-Identifier: MIT

package timebase

import (
	"sort"
	"time"

	"timebase.example/timebase/internal/counter"
)

// Stopwatch measures how long a few instructions take, and subtracts its own cost, which NewStopwatch
// has learnt from many empty laps. Start and stop are serialised: the measured code begins after the
// start is read, and ends before the stop is.
//
// It belongs to one goroutine. Where single laps matter, lock the goroutine to its thread: one that
// moves to another CPU meanwhile is measured with the move.
type Stopwatch struct {
	Overhead    uint64  // ticks: median of an empty lap
	Spread      uint64  // ticks: 99th percentile of an empty lap - its minimum
	Pair        uint64  // ticks: what a whole inner lap adds to an outer one, median
	Granularity uint64  // ticks: the counter's step, rounded up
	Period      float64 // ns: length of a tick

	laps     uint64
	isSystem bool // there is no length of a tick: time.Now serves, in ns
}

// Lap is one that has begun.
type Lap struct {
	start uint64
	laps  uint64 // those stopped before, to count the inner ones
}

// Elapsed is how long a lap took, the stopwatch's own cost taken off: it may be slightly negative.
type Elapsed struct {
	Ticks       int64
	NS          float64
	Uncertainty float64 // ns: the empty lap's spread and one granule. Disturbances come on top
}

// Duration is NS, rounded to a whole nanosecond.
func (e Elapsed) Duration() time.Duration {
	if e.NS < 0 {
		return -time.Duration(-e.NS + 0.5)
	}
	return time.Duration(e.NS + 0.5)
}

const (
	warmUpLaps = 16
	emptyLaps  = 1001 // odd, so that the median is one of them
)

// NewStopwatch learns what a lap costs, and by how many ticks the counter steps: that takes 0.2 ms to some
// ms, by the counter. The clock, or nil for Default's, says how long a tick is.
func NewStopwatch(c *Clock) *Stopwatch {
	if c == nil {
		c = Default()
	}
	w := &Stopwatch{Period: periodOf(c)}
	if w.Period == 0 {
		w.isSystem, w.Period = true, 1
	}
	sorted := w.measure(w.lapEmpty)
	w.Overhead = sorted[emptyLaps/2]
	w.Spread = sorted[emptyLaps*99/100] - sorted[0]
	w.Granularity = granularity(w.ticks)
	w.Pair = w.measure(w.lapNested)[emptyLaps/2]
	w.laps = 0
	return w
}

// A second's worth of ticks, ahead of now.
func periodOf(c *Clock) float64 {
	now := c.Mono()
	first, err1 := c.TicksAtMono(now)
	last, err2 := c.TicksAtMono(now + time.Second)
	if err1 != nil || err2 != nil || last == first {
		return 0
	}
	return 1e9 / float64(last-first)
}

// What laps are counted in.
func (w *Stopwatch) ticks() uint64 {
	if w.isSystem {
		return uint64(time.Since(started))
	}
	return counter.Ticks()
}

// Start a lap. Laps nest: the cost of an inner one is subtracted from the outer one.
func (w *Stopwatch) Start() Lap {
	lap := Lap{laps: w.laps}
	if w.isSystem {
		lap.start = uint64(time.Since(started))
		return lap
	}
	lap.start = counter.Begin()
	return lap
}

// Stop a lap.
func (w *Stopwatch) Stop(lap Lap) Elapsed {
	stop := uint64(0)
	if w.isSystem {
		stop = uint64(time.Since(started))
	} else {
		stop = counter.End()
	}
	inner := w.laps - lap.laps
	ticks := int64(stop - lap.start - w.Overhead - inner*w.Pair)
	w.laps++
	return Elapsed{
		Ticks:       ticks,
		NS:          float64(ticks) * w.Period,
		Uncertainty: float64(w.Spread*(inner+1)+w.Granularity) * w.Period,
	}
}

// Time is how long f takes; the call of f is part of it.
func (w *Stopwatch) Time(f func()) Elapsed {
	lap := w.Start()
	f()
	return w.Stop(lap)
}

func (w *Stopwatch) lapEmpty() uint64 { return uint64(w.Stop(w.Start()).Ticks) }

// An outer lap around one inner lap, whose cost is not yet subtracted: Pair is still 0.
func (w *Stopwatch) lapNested() uint64 {
	lap := w.Start()
	w.lapEmpty()
	return uint64(w.Stop(lap).Ticks)
}

// The first readings are cold: code, page, counter path.
func (w *Stopwatch) measure(lap func() uint64) []uint64 {
	for i := 0; i < warmUpLaps; i++ {
		lap()
	}
	sorted := make([]uint64, emptyLaps)
	for i := range sorted {
		sorted[i] = lap()
	}
	sort.Slice(sorted, func(i, j int) bool { return int64(sorted[i]) < int64(sorted[j]) })
	return sorted
}
