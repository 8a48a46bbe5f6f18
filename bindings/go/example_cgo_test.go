// SPDX-License-Identifier: MIT

//go:build timebase_cgo && cgo && linux

package timebase_test

import (
	"fmt"
	"log"
	"runtime"
	"time"

	"timebase.example/timebase"
)

// hit: begin at an instant, and see how well that went. With -tags timebase_cgo.
func Example_hit() {
	// The waiter learns the CPU that its thread is on: keep the goroutine on one thread, and, where
	// that matters, the thread on one CPU (taskset).
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	waiter, err := timebase.NewWaiter()
	if err != nil {
		log.Fatal(err)
	}
	defer waiter.Close()

	// Each millisecond, asleep for most of it. What comes next in Go runs some 50 ns later: the way
	// back from C.
	sent := 0
	start := timebase.Mono()
	for i := 1; i <= 20; i++ {
		when := start + time.Duration(i)*time.Millisecond
		result, err := waiter.UntilMono(when, timebase.WaitSleep|timebase.WaitPrepare)
		if err != nil {
			log.Fatal(err)
		}
		sent++
		log.Printf("%+.1f ns, +/- %.1f; late: %v", result.ErrorNS, result.ErrorBoundNS, result.Late)
	}
	fmt.Println(sent, "sent")
	// Output: 20 sent
}
