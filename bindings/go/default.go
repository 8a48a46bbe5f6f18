// SPDX-License-Identifier: MIT

package timebase

import (
	"sync/atomic"
	"time"

	"timebase.example/timebase/internal/page"
)

var standard atomic.Pointer[Clock]

// defaultPage: tests have pages of their own.
var defaultPage = PagePath

// Default is the clock of the package's functions. The first call chooses it: the daemon's page, else
// the process' own clock (with -tags timebase_cgo), else time.Now. Its Source says which, and its Err
// why there was no page.
func Default() *Clock {
	if c := standard.Load(); c != nil {
		return c
	}
	return choose()
}

// SetDefault makes the package's functions use this clock, and returns the one they had. Call it
// before other goroutines read: between two clocks neither order nor equality is promised.
func SetDefault(c *Clock) *Clock {
	was := Default()
	if c != nil {
		standard.Store(c)
	}
	return was
}

// Goroutines that choose at once agree on the first one's clock.
func choose() *Clock {
	c, err := Attach(defaultPage)
	if err != nil {
		if c = private(); c == nil {
			c = &Clock{kind: system{}}
		}
		c.err = err
	}
	if !standard.CompareAndSwap(nil, c) {
		c.Close()
	}
	return standard.Load()
}

// UTC is in ns since 1970-01-01 00:00:00 UTC, as time.Time.UnixNano counts them.
func UTC() int64 {
	if c := standard.Load(); c != nil && c.page != nil {
		if _, utc, ok := page.Read(c.page); ok {
			return utc
		}
	}
	return Default().slow().now().UTC
}

// UTCUnordered is UTC by a cheaper reading, which may move among other instructions.
func UTCUnordered() int64 { return Default().UTCUnordered() }

// Mono is the time since boot: it follows CLOCK_MONOTONIC, never steps, and never goes back.
func Mono() time.Duration {
	if c := standard.Load(); c != nil && c.page != nil {
		if mono, _, ok := page.Read(c.page); ok {
			return time.Duration(mono)
		}
	}
	return time.Duration(Default().slow().now().Mono)
}

// MonoUnordered is Mono by a cheaper reading, which may move among other instructions.
func MonoUnordered() time.Duration { return Default().MonoUnordered() }

// TAI is International Atomic Time, in ns since 1970-01-01 00:00:00 TAI.
func TAI() int64 { return Default().TAI() }

// Now is UTC as a time.Time, with a monotonic reading: see Clock.Now.
func Now() time.Time { return Default().Now() }

// NowInstant is one tick, and everything it says.
func NowInstant() Instant { return Default().Instant() }

// UTCInterval is where true UTC is, as far as the reference knows itself: see Clock.UTCInterval.
func UTCInterval() (Interval, Status) { return Default().UTCInterval() }

// RealtimeInterval is where the system clock is.
func RealtimeInterval() (Interval, Status) { return Default().RealtimeInterval() }

// At converts a tick read at another moment: see Clock.At.
func At(ticks uint64) Instant { return Default().At(ticks) }
