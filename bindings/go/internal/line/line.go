// SPDX-License-Identifier: MIT

// Package line is what a page's lines say of a tick: exact integers, modulo 2^64 where the
// specification says so. Pure: no clock, no memory that others write.
package line

import "math/bits"

// Which of the three lines, in the page's order.
type Which uint

// The lines of a page.
const (
	Before Which = iota
	Slew
	After
)

// Line is one straight line over the counter, as the page has it.
type Line struct {
	Start       uint64 // its first tick
	Mono        uint64 // monotonic time there, ns since boot
	UTC         uint64 // UTC there, ns since 1970, two's complement
	Frac        uint64 // length of a tick: Period + Frac / 2^64 ns
	Period      uint32
	Flags       uint32
	MaxError    uint64 // ns, at Start
	DriftRate   uint32 // 2^-32 ns per tick
	SlewRate    uint32
	UTCMaxError uint64
}

// Validity is how long three lines mean what they say, in ticks after the start of `after`.
type Validity struct {
	Silent, Void uint64
	EstError     [3]uint64 // ns at the start of each line
	EstRate      uint32    // 2^-32 ns per tick
}

// Lines are what one publication has.
type Lines struct {
	Before, Slew, After Line
	Validity            Validity
}

// Instant is everything that one tick says. Errors are half-widths in ns.
type Instant struct {
	Ticks       uint64
	Mono        int64
	UTC         int64
	MaxError    uint64
	UTCMaxError uint64
	EstError    uint64
	Flags       uint32
}

// Never, as Silent or Void: there is no such tick.
const Never = 1 << 63

// Growth is what a rate of 2^-32 ns per tick makes of d ticks, rounded down.
func Growth(d uint64, rate uint32) uint64 {
	high, _ := bits.Mul64(d, uint64(rate)<<32)
	return high
}

// Elapsed is what d ticks last, ns rounded down.
func Elapsed(frac uint64, period uint32, d uint64) uint64 {
	high, _ := bits.Mul64(d, frac)
	return high + d*uint64(period)
}

// At is all that a line alone says, d ticks from its start: everything but EstError and Ticks.
func (l *Line) At(d uint64) Instant {
	elapsed := Elapsed(l.Frac, l.Period, d)
	drifted := l.MaxError + Growth(d, l.DriftRate)
	return Instant{
		Mono:        int64(l.Mono + elapsed),
		UTC:         int64(l.UTC + elapsed),
		MaxError:    drifted + Growth(d, l.SlewRate),
		UTCMaxError: drifted + l.UTCMaxError,
		Flags:       l.Flags,
	}
}

// back draws the line backwards. It rounds down there, too.
func (l *Line) back(b uint64) Instant {
	high, low := bits.Mul64(b, l.Frac)
	distance := b*uint64(l.Period) + high
	if low != 0 {
		distance++
	}
	drift := Growth(b, l.DriftRate)
	return Instant{
		Mono:        int64(l.Mono - distance),
		UTC:         int64(l.UTC - distance),
		MaxError:    l.MaxError + drift + Growth(b, l.SlewRate),
		UTCMaxError: l.MaxError + l.UTCMaxError + drift,
		Flags:       l.Flags,
	}
}

// HasBegun tells whether the line has, at this tick.
func (l *Line) HasBegun(ticks uint64) bool { return int64(ticks-l.Start) >= 0 }

// UTCOffset is UTC - monotonic time, the same all along the line.
func (l *Line) UTCOffset() int64 { return int64(l.UTC - l.Mono) }
