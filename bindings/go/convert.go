// SPDX-License-Identifier: MIT

package timebase

import (
	"time"

	"timebase.example/timebase/internal/line"
)

// At converts a tick read at another moment. It is exact for those that the page's lines cover, some
// 250 ms of a clock in use; for others the nearest line is drawn on, and the bound grows. By the
// system's clock ticks mean nothing: the status is UNKNOWN.
func (c *Clock) At(ticks uint64) Instant {
	at := c.slow().at(ticks)
	return instantOf(&at)
}

// UTCAt is At(ticks).UTC.
func (c *Clock) UTCAt(ticks uint64) int64 { return c.slow().at(ticks).UTC }

// MonoAt is At(ticks).Mono.
func (c *Clock) MonoAt(ticks uint64) time.Duration { return time.Duration(c.slow().at(ticks).Mono) }

// TAIAt is the TAI of At(ticks).
func (c *Clock) TAIAt(ticks uint64) int64 {
	at := c.slow().at(ticks)
	return line.TAI(at.UTC, at.Flags)
}

// TicksAtUTC is the first tick at which the clock will show, or showed, this UTC or a later one. By
// the system's clock there is none: ErrUnsupported.
func (c *Clock) TicksAtUTC(ns int64) (uint64, error) { return c.slow().firstTick(ns, true) }

// TicksAtMono is the first tick at which the clock will show, or showed, this monotonic time.
func (c *Clock) TicksAtMono(mono time.Duration) (uint64, error) {
	return c.slow().firstTick(int64(mono), false)
}
