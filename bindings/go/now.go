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

// look is a wall, with how long it took to find, and by how much its monotonic reading is later than that
// of the wall before.
type look struct {
	wall  *wall
	width int64
	gain  time.Duration
}

// isBetter: none is to set the monotonic reading back; of others the narrower is better. Who is held up
// while package time reads its two clocks, one after the other, has a monotonic reading that is too late
// by as much: the next wall would lie before it.
func (l look) isBetter(than look) bool {
	if l.gain < 0 || than.gain < 0 {
		return l.gain > than.gain
	}
	return l.width < than.width
}

// newWall is made at the first Now, and after each step of UTC: the best of a few. Each is judged by
// readings of the clock before and after it; to be held up between them is no step.
func (c *Clock) newWall(old *wall, offset int64) *wall {
	var best look
	for i := 0; i < wallSamples; i++ {
		earliest := int64(c.Mono())
		found := look{wall: sampleWall(offset)}
		latest := int64(c.Mono())
		if found.wall.mono < earliest-wallMax || found.wall.mono > latest+wallMax {
			return nil
		}
		found.width = latest - earliest
		if old != nil {
			found.gain = found.wall.gain(old)
		}
		if best.wall == nil || found.isBetter(best) {
			best = found
		}
	}
	c.wall.Store(best.wall)
	return best.wall
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
