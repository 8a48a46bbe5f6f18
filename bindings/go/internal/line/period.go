// SPDX-License-Identifier: MIT

package line

import (
	"math"
	"math/bits"
)

// period is a length of time in ns and 2^-64 ns.
type period struct{ ns, frac uint64 }

func (l *Line) period() period { return period{uint64(l.Period), l.Frac} }

func (l *Line) setPeriod(p period) { l.Period, l.Frac = uint32(p.ns), p.frac }

// over is p / divisor, rounded down.
func (p period) over(divisor uint64) period {
	ns, rest := bits.Div64(0, p.ns, divisor)
	frac, _ := bits.Div64(rest, p.frac, divisor)
	return period{ns, frac}
}

func (p period) less(q period) period {
	frac, borrow := bits.Sub64(p.frac, q.frac, 0)
	ns, _ := bits.Sub64(p.ns, q.ns, borrow)
	return period{ns, frac}
}

// Ticks are the whole ticks of `after` in ns, which are below 2^32.
func (l *Lines) Ticks(ns uint64) uint64 {
	length := uint64(l.After.Period)<<32 | l.After.Frac>>32
	if length == 0 {
		return math.MaxUint64 >> 1 // no counter is so fast, and none that is plausible
	}
	return ns << 32 / length
}

// ElapsedNS are the ns of `after` in so many ticks; 0 if they are negative.
func (l *Lines) ElapsedNS(ticks uint64) uint64 {
	if int64(ticks) < 0 {
		return 0
	}
	return Elapsed(l.After.Frac, l.After.Period, ticks)
}

// IsPossible tells whether no line's counter is faster than 1 THz: quotients by a period stay small.
func (l *Lines) IsPossible() bool {
	for _, of := range []*Line{&l.Before, &l.Slew, &l.After} {
		if of.Period == 0 && of.Frac>>54 == 0 {
			return false
		}
	}
	return true
}
