// SPDX-License-Identifier: MIT

//go:build linux

package timebase_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"timebase.example/timebase"
)

// The daemon's page; in these examples one that the tests keep.
var path = timebase.PathOfExamples

// now: what time is it, and how sure is that?
func Example_now() {
	// The short ways.
	fmt.Println(timebase.Now().Year() > 2000, timebase.UTC() > 0)

	// The long way: one tick of the counter, and everything it says.
	now := timebase.NowInstant()
	log.Printf("UTC        %v", now.Time().UTC().Format(time.RFC3339Nano))
	log.Printf("           +/- %v from the system clock", now.MaxError)
	log.Printf("           +/- %v from true UTC, as its reference says", now.UTCMaxError)
	log.Printf("monotonic  %v since boot", now.Mono)
	log.Printf("counter    %v, tick %d", timebase.Counter(), now.Ticks)
	log.Printf("clock      %v", timebase.Default().Source())

	// Only this status makes the second bound a promise.
	if _, status := timebase.UTCInterval(); status == timebase.StatusSynchronized {
		fmt.Println("true UTC is known within a bound")
	}
	// Output:
	// true true
	// true UTC is known within a bound
}

// stamp_and_convert: log raw ticks where every nanosecond counts, convert them afterwards.
func Example_stampAndConvert() {
	var stamps [5]uint64
	for i := range stamps { // now: a register is read, nothing else
		stamps[i] = timebase.TicksOrdered()
	}
	first := timebase.At(stamps[0]) // later, in any goroutine
	for i, stamp := range stamps {
		event := timebase.At(stamp)
		log.Printf("event %d: %v UTC +/- %v, %v after the first", i, event.Time(), event.MaxError,
			event.Mono-first.Mono)
		if event.Mono < first.Mono {
			fmt.Println("time went back")
		}
	}
	fmt.Println(len(stamps), "events")
	// Output: 5 events
}

// elapsed: how long a few instructions take, without what the watch itself takes.
func Example_elapsed() {
	sink := uint32(0)
	work := func() {
		for i := uint32(0); i < 1000; i++ {
			sink = sink*2654435761 + i
		}
	}
	watch := timebase.NewStopwatch(nil)
	nothing := watch.Time(func() {})
	once := watch.Time(work)

	// Nested, by hand: the inner lap's own cost is taken off the outer one.
	outer := watch.Start()
	work()
	inner := watch.Start()
	work()
	second := watch.Stop(inner)
	both := watch.Stop(outer)
	log.Printf("nothing %.1f ns, work %.1f +/- %.1f, twice %.1f, the second of the two %.1f",
		nothing.NS, once.NS, once.Uncertainty, both.NS, second.NS)
	fmt.Println(both.NS > 0, sink != 0)
	// Output: true true
}

// housekeeping: no reading looks at the page, because a goroutine does it for all.
func Example_housekeeping() {
	clock, err := timebase.Attach(path())
	if err != nil {
		log.Fatal(err)
	}
	defer clock.Close()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ticker := time.NewTicker(10 * time.Millisecond); ; {
			select {
			case <-ctx.Done():
				ticker.Stop()
				return
			case <-ticker.C:
				if err := clock.Maintain(); err != nil {
					log.Print(err)
				}
			}
		}
	}()
	for start := clock.Mono(); clock.Mono()-start < 50*time.Millisecond; {
	}
	cancel()
	<-ended
	log.Printf("%+v", clock.Attachment())
	fmt.Println(clock.Attachment().State)
	// Output: current
}

// interval: which of two events came first, if that can be known at all.
func Example_interval() {
	a, _ := timebase.RealtimeInterval()
	b, _ := timebase.RealtimeInterval()
	c := b
	for !a.Before(c) { // wait out the doubt: then everybody's clock agrees that a is over
		c, _ = timebase.RealtimeInterval()
	}
	log.Printf("a %v\nb %v\nc %v", a, b, c)
	log.Println("a and b: nobody knows:", a.Overlaps(b)) // unless the machine was held up in between
	fmt.Println("a before c:", a.Before(c), "and c before a:", c.Before(a))
	// Output: a before c: true and c before a: false
}

// commit_wait: number an event by a time that nobody who hears of it can be behind.
func Example_commitWait() {
	clock, err := timebase.AttachOrDefault(path()) // another clock has no more than an estimate
	if err != nil {
		log.Print(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	now, err := clock.WaitBound(ctx, 50*time.Millisecond)
	if errors.Is(err, timebase.ErrEstimate) || errors.Is(err, timebase.ErrStale) {
		log.Fatal("nobody promises anything about UTC here: take another order. ", err)
	}
	commit := now.Latest
	fmt.Println("the work of the transaction goes here, while the doubt grows old")
	if err := clock.WaitAfter(ctx, commit); err != nil {
		log.Fatal(err)
	}
	later, _ := clock.UTCInterval()
	fmt.Println("committed; every clock that is right shows more by now:", later.Earliest > commit)
	// Output:
	// the work of the transaction goes here, while the doubt grows old
	// committed; every clock that is right shows more by now: true
}

// A program that will have the daemon's page and nothing less.
func ExampleAttach() {
	_, err := timebase.Attach("/nowhere/page")
	fmt.Println(errors.Is(err, timebase.ErrNotFound))
	fmt.Println(err)
	// Output:
	// true
	// timebase: /nowhere: there is no such file: does timebased run? In a container, mount the folder
}
