// SPDX-License-Identifier: MIT

package stand

import "timebase.example/timebase/internal/line"

// What the writer's publication n says of the tick t0 + d: bindings/conformance/law.h.
func law(n, ticks, t0 uint64) line.Instant {
	d := ticks - t0
	grains := func(number uint64) uint64 { return d * (number % 1024) >> 24 }
	mono := lawMono(n, d)
	return line.Instant{
		Ticks:       ticks,
		Mono:        mono,
		UTC:         mono + int64(n),
		MaxError:    1<<20 + 3*n + grains(n) + grains(n+512),
		UTCMaxError: 1<<32 + 7*n + grains(n),
		EstError:    1<<20 + 5*n + grains(n+256),
		Flags:       uint32(n)<<16 | line.TAIValid | line.Synchronized,
	}
}

func lawMono(n, d uint64) int64 {
	bend := d * (n%128 + 1)
	if n%2 == 1 {
		return int64(n<<28 + d + bend>>24)
	}
	return int64(n<<28 + d - (bend+1<<24-1)>>24)
}

// lawNumber is the publication that two times of one reading name.
func lawNumber(mono, utc int64) uint64 { return uint64(utc - mono) }
