// SPDX-License-Identifier: MIT

package timebase

import (
	"time"

	"timebase.example/timebase/internal/page"
)

// wall joins the clock to package time: at the monotonic time mono of the clock its UTC was what base,
// a reading of time.Now, says. A time.Time's monotonic reading cannot be set; it can be moved, together
// with its UTC, by Add.
type wall struct {
	base   time.Time
	mono   int64
	offset int64 // UTC - monotonic time of the clock, as long as base holds
}

const (
	wallSamples = 8
	// Where the system clock is further from the clock's UTC, it has just been stepped.
	wallMax = int64(time.Millisecond)
)

// Now is the clock's UTC as a time.Time, to the nanosecond. It carries a monotonic reading, so Sub,
// Since and timers are right, also with times of time.Now; this reading follows the clock's monotonic
// time and does not go back. Only while the system clock has been stepped, and the page does not know
// it yet, the result has no monotonic reading.
func (c *Clock) Now() time.Time {
	if c == nil || c.page == nil {
		return time.Now()
	}
	mono, utc, ok := page.Read(c.page)
	if !ok {
		now := c.slow().now()
		mono, utc = now.Mono, now.UTC
	}
	w := c.wall.Load()
	if w == nil || w.offset != utc-mono {
		if w = c.newWall(w, utc-mono); w == nil {
			return time.Unix(0, utc)
		}
	}
	return w.base.Add(time.Duration(mono - w.mono))
}

// newWall is made at the first Now, and after each step of UTC. Of a few it is the one that has the
// latest monotonic reading, so that this does not go back at a step of UTC. Each is judged by readings of
// the clock before and after it: to be held up between them is no step, but a narrower look is better.
func (c *Clock) newWall(old *wall, offset int64) *wall {
	var best *wall
	for i := 0; i < wallSamples; i++ {
		earliest := int64(c.Mono())
		w := sampleWall(offset)
		latest := int64(c.Mono())
		if w.mono < earliest-wallMax || w.mono > latest+wallMax {
			return nil
		}
		if best == nil || w.gain(best) > 0 {
			best = w
		}
		if latest-earliest <= wallMax && (old == nil || best.gain(old) >= 0) {
			break
		}
	}
	c.wall.Store(best)
	return best
}

// sampleWall: tests have readings of their own.
var sampleWall = wallAt

func wallAt(offset int64) *wall {
	base := time.Now()
	return &wall{base: base, mono: base.UnixNano() - offset, offset: offset}
}

// gain is by how much later this one's monotonic reading is than another's, at the same tick.
func (w *wall) gain(other *wall) time.Duration {
	return w.base.Sub(other.base) - time.Duration(w.mono-other.mono)
}
