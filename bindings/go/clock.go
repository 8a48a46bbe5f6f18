// SPDX-License-Identifier: MIT

package timebase

import (
	"sync/atomic"
	"time"

	"timebase.example/timebase/internal/line"
	"timebase.example/timebase/internal/page"
)

// PagePath is where the daemon keeps its page.
const PagePath = "/run/timebase/page"

// The folder's owner, to whom systemd gave it, counts like root.
const pageFolder = "/run/timebase"

// Source says what a clock is made of.
type Source int

// From the least to the best.
const (
	SourceSystem  Source = iota // time.Now
	SourcePrivate               // the C library's clock of this process
	SourcePage                  // the page that another process keeps
)

func (s Source) String() string {
	switch s {
	case SourcePage:
		return "a shared page"
	case SourcePrivate:
		return "the process' own clock"
	}
	return "time.Now"
}

// Clock tells the time. The zero Clock is the system's, time.Now.
type Clock struct {
	page *page.Page // what page.Read is for, or an empty one; nil: the system's clock
	kind kind
	err  error
	wall atomic.Pointer[wall]
}

// kind is what differs between the sources: where readings go whose tick is not on the page's line.
type kind interface {
	source() Source
	now() line.Instant
	at(ticks uint64) line.Instant
	firstTick(ns int64, isUTC bool) (uint64, error)
	maintain() error
	attachment() Attachment
	close()
}

func (c *Clock) slow() kind {
	if c == nil || c.kind == nil {
		return system{}
	}
	return c.kind
}

// Source says what the clock is made of.
func (c *Clock) Source() Source { return c.slow().source() }

// Err says why this is no better clock: for Default's, why there is no page to follow.
func (c *Clock) Err() error {
	if c == nil {
		return nil
	}
	return c.err
}

// UTC is in ns since 1970-01-01 00:00:00 UTC, as time.Time.UnixNano counts them.
func (c *Clock) UTC() int64 {
	if c != nil && c.page != nil {
		if _, utc, ok := page.Read(c.page); ok {
			return utc
		}
	}
	return c.slow().now().UTC
}

// UTCUnordered is UTC by a cheaper reading, which may move among other instructions: good for stamps
// within a goroutine, wrong for comparing with what another one did.
func (c *Clock) UTCUnordered() int64 {
	if c != nil && c.page != nil {
		if _, utc, ok := page.ReadUnordered(c.page); ok {
			return utc
		}
	}
	return c.slow().now().UTC
}

// Mono is the time since boot, suspend not counted: it follows CLOCK_MONOTONIC, never steps, and
// never goes back. Differences are durations.
func (c *Clock) Mono() time.Duration {
	if c != nil && c.page != nil {
		if mono, _, ok := page.Read(c.page); ok {
			return time.Duration(mono)
		}
	}
	return time.Duration(c.slow().now().Mono)
}

// MonoUnordered is Mono by a cheaper reading: see UTCUnordered.
func (c *Clock) MonoUnordered() time.Duration {
	if c != nil && c.page != nil {
		if mono, _, ok := page.ReadUnordered(c.page); ok {
			return time.Duration(mono)
		}
	}
	return time.Duration(c.slow().now().Mono)
}

// TAI is International Atomic Time, in ns since 1970-01-01 00:00:00 TAI. It equals UTC while nobody
// has told the kernel the difference: FlagTAIValid.
func (c *Clock) TAI() int64 {
	now := c.read()
	return line.TAI(now.UTC, now.Flags)
}

// Instant is one tick, and everything it says.
func (c *Clock) Instant() Instant {
	now := c.read()
	return instantOf(&now)
}

func (c *Clock) read() (now line.Instant) {
	if c != nil && c.page != nil && c.page.Instant(&now) {
		return now
	}
	return c.slow().now()
}

// UTCInterval is where true UTC is, as far as the reference knows itself. It contains the moment at
// which the counter was read, and is a promise only with SYNCHRONIZED, and only if Instant does not
// flag Estimate.
func (c *Clock) UTCInterval() (Interval, Status) {
	if c != nil && c.page != nil {
		if utc, _, bound, flags, ok := c.page.Bounded(); ok {
			return IntervalAround(utc, duration(bound)), Flags(flags).Status()
		}
	}
	now := c.slow().now()
	return IntervalAround(now.UTC, duration(now.UTCMaxError)), Flags(now.Flags).Status()
}

// RealtimeInterval is where the system clock is; it contains only the error of following it.
func (c *Clock) RealtimeInterval() (Interval, Status) {
	if c != nil && c.page != nil {
		if utc, bound, _, flags, ok := c.page.Bounded(); ok {
			return IntervalAround(utc, duration(bound)), Flags(flags).Status()
		}
	}
	now := c.slow().now()
	return IntervalAround(now.UTC, duration(now.MaxError)), Flags(now.Flags).Status()
}

// Maintain looks at the page, and renews what readers follow. Readers do it by themselves when it is
// due; who wants to spare one of them the system call does it for them, every 10 ms.
func (c *Clock) Maintain() error { return c.slow().maintain() }

// Close gives the descriptor of the page back. Readings go on by the lines there were, with a bound
// that grows, until these expire.
func (c *Clock) Close() error {
	c.slow().close()
	return nil
}
