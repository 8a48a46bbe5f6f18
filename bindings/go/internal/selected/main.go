// SPDX-License-Identifier: MIT

//go:build timebase_cgo && cgo && linux

// selected is a program whose C code has chosen another counter than the processor's, as it does, too,
// where it corrects the counter by CPU. It fails unless all of package timebase reads that one.
//
//	selected PAGE    a page over the processor's counter, which must be refused
package main

// #cgo pkg-config: timebase
// #include <timebase.h>
import "C"

import (
	"errors"
	"fmt"
	"os"
	"time"

	"timebase.example/timebase"
)

func main() {
	if C.timebase_counter_select(C.TIMEBASE_COUNTER_OS) != 0 || C.timebase_clock_restart(C.timebase_clock_default()) != 0 {
		fail("the counter cannot be chosen")
	}
	if _, err := timebase.Attach(os.Args[1]); !errors.Is(err, timebase.ErrUnsupported) {
		fail("attached to a page of another counter:", err)
	}
	clock, _ := timebase.AttachOrDefault(os.Args[1])
	if clock.Source() != timebase.SourcePrivate || timebase.Counter() != timebase.CounterOS {
		fail(clock.Source(), timebase.Counter())
	}
	ticksAreTheClocks(clock)
	lapsAreTheClocks(clock)
}

func fail(why ...any) {
	fmt.Println(why...)
	os.Exit(1)
}

// ticksAreTheClocks: the time of a stamp lies between readings before and after it, as far as these and the
// lines it was converted by can be apart.
func ticksAreTheClocks(clock *timebase.Clock) {
	for i := 0; i < 1000; i++ {
		before, stamp, after := clock.Instant(), timebase.Ticks(), clock.Instant()
		at := clock.At(stamp)
		room := at.MaxError + before.MaxError + after.MaxError
		if at.Mono < before.Mono-room || at.Mono > after.Mono+room {
			fail("a tick read between", before, "and", after, "is", at)
		}
	}
}

// lapsAreTheClocks: a lap of the stopwatch takes no longer than what the clock shows around it.
func lapsAreTheClocks(clock *timebase.Clock) {
	watch := timebase.NewStopwatch(clock)
	const least = time.Millisecond
	before := clock.Mono()
	lap := watch.Time(func() {
		for start := clock.Mono(); clock.Mono()-start < least; {
		}
	})
	most := clock.Mono() - before
	if lap.Duration() < least*9/10 || lap.Duration() > most*11/10 {
		fail("a lap of", least, "to", most, "is", lap.Duration())
	}
}
