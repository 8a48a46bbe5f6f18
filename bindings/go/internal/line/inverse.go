// SPDX-License-Identifier: MIT

package line

import "math/bits"

// The range of the inverse, either side of the start of `after`: at most 2^62 ns, within which neither
// monotonic time nor UTC overflows.
const reachBits = 62

// The second one is of the first one's error: days ahead that is thousands of ticks.
const guesses = 2

// inverse is a time whose tick is wanted.
type inverse struct {
	lines  *Lines
	target int64
	isUTC  bool
}

// FirstTick is the first tick whose monotonic time, or UTC, is the target or later. The conversion
// itself is the judge, so the inverse cannot disagree with it. Out of reach it is the first or last tick
// of the range, in which no product overflows; so a line whose ends are in order is rising.
func (l *Lines) FirstTick(target int64, isUTC bool) uint64 {
	of := inverse{l, target, isUTC}
	reach := uint64(1) << (reachBits - bits.Len32(l.After.Period))
	before, slew, after := l.Before.Start, l.Slew.Start, l.After.Start
	origin := after - reach
	if of.isEarly(after - 1) {
		if of.isRising(&l.After, after, after+reach-1) {
			return of.firstOn(&l.After, after, reach-1)
		}
	} else if before-origin < slew-origin && slew-origin < reach &&
		of.isRising(&l.Before, origin, slew-1) && of.isRising(&l.Slew, slew, after-1) {
		if of.isEarly(slew - 1) {
			return of.firstOn(&l.Slew, slew, after-slew)
		}
		first := origin
		if of.isEarly(before) {
			first = before
		}
		if !of.isEarly(slew) {
			return of.firstOn(&l.Before, first, slew-first)
		}
	}
	return of.firstByBits(origin, reach)
}

func (of *inverse) timeAt(ticks uint64) int64 {
	at := of.lines.At(ticks)
	if of.isUTC {
		return at.UTC
	}
	return at.Mono
}

func (of *inverse) isEarly(ticks uint64) bool { return of.timeAt(ticks) < of.target }

// isRising: along a line whose tick is no longer than that of `after`, from one tick to another.
func (of *inverse) isRising(l *Line, first, last uint64) bool {
	return l.Period <= of.lines.After.Period && of.timeAt(first) <= of.timeAt(last)
}

// firstOn is the first of so many ticks that is not early, or the one after them; time does not go back
// along them. From the guess on in steps that double, until it lies between two of them; then by halves.
func (of *inverse) firstOn(l *Line, first, count uint64) uint64 {
	low, high, step, at := uint64(0), count, uint64(1), uint64(0)
	for i := 0; i < guesses; i++ {
		if left := of.target - of.timeAt(first+at); left < 0 {
			at -= l.guess(uint64(-left))
		} else {
			at += l.guess(uint64(left))
		}
	}
	for low < high {
		if at < low || at >= high {
			at = low + (high-low)/2
		}
		if of.isEarly(first + at) {
			low = at + 1
			at = low + step
		} else {
			high = at
			at = high - step
		}
		if step < count {
			step *= 2
		}
	}
	return first + low
}

// guess is how many ticks of the line take so long, to 31 bits. Nobody relies on it.
func (l *Line) guess(ns uint64) uint64 {
	length := uint64(l.Period)<<32 | l.Frac>>32
	if length == 0 {
		return 0
	}
	shift := bits.Len32(uint32(ns >> 32))
	return (ns >> shift << 32) / length << shift
}

// firstByBits is for any lines; where time goes back several ticks may be the first, and it is the one
// that this finds.
func (of *inverse) firstByBits(origin, reach uint64) uint64 {
	below := uint64(0) // every tick at a distance < below is too early
	for step := reach; step != 0; step /= 2 {
		if of.isEarly(origin + below + step - 1) {
			below += step
		}
	}
	return origin + below
}
