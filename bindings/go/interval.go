// SPDX-License-Identifier: MIT

package timebase

import (
	"fmt"
	"math"
	"time"
)

// Interval holds all moments from Earliest to Latest, both included, in ns since 1970-01-01 UTC. One
// that ends before it begins is empty: it is before, after and within nothing.
//
// docs/guide/order.md tells what intervals can say of two events, on two machines.
type Interval struct {
	Earliest, Latest int64
}

// IntervalAround holds all moments within err of ns; at the ends of int64 it is cut off there.
func IntervalAround(ns int64, err time.Duration) Interval {
	if err < 0 {
		return Interval{Earliest: ns, Latest: ns - 1}
	}
	around := Interval{ns - int64(err), ns + int64(err)}
	if around.Earliest > ns {
		around.Earliest = math.MinInt64
	}
	if around.Latest < ns {
		around.Latest = math.MaxInt64
	}
	return around
}

// IsEmpty tells whether it ends before it begins.
func (a Interval) IsEmpty() bool { return a.Latest < a.Earliest }

// Before: is every moment of a before every moment of b? Then event a came before event b.
func (a Interval) Before(b Interval) bool {
	return !a.IsEmpty() && !b.IsEmpty() && a.Latest < b.Earliest
}

// Overlaps: have they a moment in common? Then nobody can say which event came first.
func (a Interval) Overlaps(b Interval) bool {
	return !a.IsEmpty() && !b.IsEmpty() && a.Latest >= b.Earliest && b.Latest >= a.Earliest
}

// Contains a moment, in ns since 1970.
func (a Interval) Contains(ns int64) bool { return a.Earliest <= ns && ns <= a.Latest }

// Width is twice the bound, and saturates; 0 if empty.
func (a Interval) Width() time.Duration {
	if a.IsEmpty() {
		return 0
	}
	return duration(uint64(a.Latest) - uint64(a.Earliest))
}

// Intersect is what two intervals of the same moment, of two clocks for example, have in common. It is
// empty if one of them is wrong.
func (a Interval) Intersect(b Interval) Interval {
	if b.Earliest > a.Earliest {
		a.Earliest = b.Earliest
	}
	if b.Latest < a.Latest {
		a.Latest = b.Latest
	}
	return a
}

// EarliestTime is Earliest as a time.Time.
func (a Interval) EarliestTime() time.Time { return time.Unix(0, a.Earliest) }

// LatestTime is Latest as a time.Time.
func (a Interval) LatestTime() time.Time { return time.Unix(0, a.Latest) }

func (a Interval) String() string {
	if a.IsEmpty() {
		return "no moment"
	}
	const layout = "2006-01-02T15:04:05.000000000Z"
	return fmt.Sprintf("%s ... %s (%v)", a.EarliestTime().UTC().Format(layout),
		a.LatestTime().UTC().Format(layout), a.Width())
}
