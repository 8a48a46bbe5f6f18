// SPDX-License-Identifier: MIT

// cost: what a reading costs in Go, beside C's inline reading, time.Now and another library. Prints
// lines of JSON, as bindings/README.md describes them. cost [TRIALS]
//
// All are attached to one page, which this program keeps in the meantime; they take turns, trial by
// trial, each with a batch of calls.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sort"
	"strconv"
	"time"

	"github.com/templexxx/tsc"

	"timebase.example/timebase"
	"timebase.example/timebase/internal/pagetest"
)

const calls = 1000 // a batch: some 20 us

// sink is what readings are for, so that no call can be dropped.
var sink int64

type reading struct {
	name, who string
	batch     func(calls int)
}

// Each loop is its own, so that the reading is called as a program calls it.
var readings = []reading{
	{"utc_ns", "timebase", func(n int) {
		for i := 0; i < n; i++ {
			sink = timebase.UTC()
		}
	}},
	{"utc_ns", "C inline", inlineUTC},
	{"utc_ns", "timebase.Now", func(n int) {
		var last time.Time // a time.Time in a package variable would add a write barrier
		for i := 0; i < n; i++ {
			last = timebase.Now()
		}
		sink = int64(last.Nanosecond())
	}},
	{"utc_bounded", "timebase", func(n int) {
		for i := 0; i < n; i++ {
			now, _ := timebase.UTCInterval()
			sink = now.Latest
		}
	}},
	{"utc_bounded", "C inline", inlineBounded},
	{"mono_ns", "timebase", func(n int) {
		for i := 0; i < n; i++ {
			sink = int64(timebase.Mono())
		}
	}},
	{"mono_ns", "C inline", inlineMono},
	{"ticks", "timebase", func(n int) {
		for i := 0; i < n; i++ {
			sink = int64(timebase.Ticks())
		}
	}},
	{"ticks", "C inline", inlineTicks},
	{"own_clock", "time.Now", func(n int) {
		var last time.Time
		for i := 0; i < n; i++ {
			last = time.Now()
		}
		sink = int64(last.Nanosecond())
	}},
	{"own_clock", "time.Now().UnixNano", func(n int) {
		for i := 0; i < n; i++ {
			sink = time.Now().UnixNano()
		}
	}},
	{"own_clock", "time.Since", func(n int) {
		for i := 0; i < n; i++ {
			sink = int64(time.Since(began))
		}
	}},
	{"peer", "templexxx/tsc", func(n int) {
		for i := 0; i < n; i++ {
			sink = tsc.UnixNano()
		}
	}},
}

var began = time.Now()

type row struct {
	Language string  `json:"language"`
	Reading  string  `json:"reading"`
	Who      string  `json:"who"`
	Median   float64 `json:"median_ns"`
	P99      float64 `json:"p99_ns"`
	Trials   int     `json:"trials"`
}

func main() {
	trials := 2001
	var err error
	if len(os.Args) > 1 {
		trials, err = strconv.Atoi(os.Args[1])
	}
	if err != nil || trials < 1 || len(os.Args) > 2 {
		fmt.Fprintln(os.Stderr, "usage: cost [TRIALS]")
		os.Exit(2)
	}
	if err = measure(trials); err != nil {
		fmt.Fprintln(os.Stderr, "cost:", err)
		os.Exit(1)
	}
}

// prepare attaches all to one page.
func prepare() (end func(), err error) {
	folder, remove, err := pagetest.Folder()
	if err != nil {
		return nil, err
	}
	writer, err := pagetest.New(folder)
	if err != nil {
		return nil, err
	}
	clock, err := timebase.Attach(writer.Path)
	if err != nil {
		return nil, err
	}
	timebase.SetDefault(clock)
	if err := attachInC(writer.Path); err != nil {
		return nil, err
	}
	if !tsc.Supported() {
		return nil, fmt.Errorf("templexxx/tsc has fallen back to time.Now: no peer to compare with")
	}
	writer.Keep()
	return func() { writer.Close(); remove() }, nil
}

func measure(trials int) error {
	end, err := prepare()
	if err != nil {
		return err
	}
	defer end()
	runtime.LockOSThread()
	debug.SetGCPercent(-1)
	ns := make([][]float64, len(readings))
	for trial := -10; trial < trials; trial++ { // the first ones are cold
		for i, r := range readings {
			start := timebase.Mono()
			r.batch(calls)
			if took := timebase.Mono() - start; trial >= 0 {
				ns[i] = append(ns[i], float64(took)/calls)
			}
		}
	}
	out := json.NewEncoder(os.Stdout)
	for i, r := range readings {
		sort.Float64s(ns[i])
		err := out.Encode(row{"Go", r.name, r.who, ns[i][trials/2], ns[i][(trials-1)*99/100], trials})
		if err != nil {
			return err
		}
	}
	return nil
}
