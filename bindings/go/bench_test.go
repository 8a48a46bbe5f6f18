// SPDX-License-Identifier: MIT

//go:build linux

package timebase

import (
	"testing"
	"time"
)

var sink int64

func BenchmarkUTC(b *testing.B) {
	UTC()
	for i := 0; i < b.N; i++ {
		sink = UTC()
	}
}

func BenchmarkUTCUnordered(b *testing.B) {
	c := Default()
	for i := 0; i < b.N; i++ {
		sink = c.UTCUnordered()
	}
}

func BenchmarkNow(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sink = int64(Now().Nanosecond())
	}
}

func BenchmarkUTCInterval(b *testing.B) {
	for i := 0; i < b.N; i++ {
		where, _ := UTCInterval()
		sink = where.Earliest
	}
}

func BenchmarkTicks(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sink = int64(Ticks())
	}
}

func BenchmarkTimeNow(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sink = time.Now().UnixNano()
	}
}

// A few instructions, by the stopwatch: ns/op of the testing package has the loop and the call in it.
func BenchmarkStopwatch(b *testing.B) {
	watch := NewStopwatch(nil)
	least := 1e9
	for i := 0; i < b.N; i++ {
		lap := watch.Start()
		sink += sink>>3 + 1
		if e := watch.Stop(lap); e.NS < least {
			least = e.NS
		}
	}
	b.ReportMetric(least, "ns/least")
}
