// SPDX-License-Identifier: MIT

package timebase

import (
	"math"
	"strconv"
	"time"

	"timebase.example/timebase/internal/line"
)

// Status is the state of a clock, with the values and meaning of Linux' vmclock-abi.h.
type Status uint8

// What bounds are worth.
const (
	StatusUnknown      = Status(line.Unknown)      // nothing can be said; bounds do not hold
	StatusInitializing = Status(line.Initializing) // the frequency is not known well yet; bounds hold
	StatusSynchronized = Status(line.Synchronized) // the reference says that it follows true UTC
	StatusFreerunning  = Status(line.Freerunning)  // it does not, or is out of reach
	StatusUnreliable   = Status(line.Unreliable)   // the counter has just misbehaved, or is distrusted
)

func (s Status) String() string {
	names := [...]string{"UNKNOWN", "INITIALIZING", "SYNCHRONIZED", "FREERUNNING", "UNRELIABLE"}
	if int(s) < len(names) {
		return names[s]
	}
	return "status " + strconv.Itoa(int(s))
}

// Flags are a line's: its status, and what is known of leap seconds, TAI and the bound.
type Flags uint32

// Bits of Flags.
const (
	FlagTAIValid          = Flags(line.TAIValid)
	FlagLeapInsert        = Flags(line.LeapInsert)        // a second comes in at the end of the day
	FlagLeapDelete        = Flags(line.LeapDelete)        // or is left out
	FlagEstimate          = Flags(line.Estimate)          // the error of UTC is an estimate, no bound
	FlagNeverMoved        = Flags(line.NeverMoved)        // the machine is never moved or restored
	FlagCounterDistrusted = Flags(line.CounterDistrusted) // the kernel does not trust the counter
)

// Status of the clock.
func (f Flags) Status() Status { return Status(f & line.StatusMask) }

// TAIOffset is TAI - UTC, and whether anybody has set it.
func (f Flags) TAIOffset() (time.Duration, bool) {
	return time.Duration(line.TAIOffset(uint32(f))) * time.Second, f&FlagTAIValid != 0
}

// Instant is everything that one tick says. Errors are half-widths, and saturate.
type Instant struct {
	Ticks       uint64
	UTC         int64         // ns since 1970-01-01 UTC
	Mono        time.Duration // since boot
	MaxError    time.Duration // against the reference clock: a bound
	UTCMaxError time.Duration // against true UTC, if the reference is right about itself
	EstError    time.Duration // against the reference clock, probably: no promise
	Flags       Flags
}

func duration(ns uint64) time.Duration {
	if ns > math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(ns)
}

func instantOf(i *line.Instant) Instant {
	return Instant{
		Ticks: i.Ticks, UTC: i.UTC, Mono: time.Duration(i.Mono),
		MaxError: duration(i.MaxError), UTCMaxError: duration(i.UTCMaxError), EstError: duration(i.EstError),
		Flags: Flags(i.Flags),
	}
}

// Status says what the bounds are worth.
func (i Instant) Status() Status { return i.Flags.Status() }

// Time is the instant's UTC, without a monotonic reading.
func (i Instant) Time() time.Time { return time.Unix(0, i.UTC) }

// TAI is the instant in ns since 1970-01-01 TAI, and whether anybody has said how many leap seconds
// there are: else it is UTC.
func (i Instant) TAI() (ns int64, ok bool) {
	return line.TAI(i.UTC, uint32(i.Flags)), i.Flags&FlagTAIValid != 0
}

// UTCInterval is where true UTC was: a promise only if the status is SYNCHRONIZED and the flags do not
// say Estimate.
func (i Instant) UTCInterval() Interval { return IntervalAround(i.UTC, i.UTCMaxError) }

// RealtimeInterval is where the system clock was; it contains only the error of following it.
func (i Instant) RealtimeInterval() Interval { return IntervalAround(i.UTC, i.MaxError) }
