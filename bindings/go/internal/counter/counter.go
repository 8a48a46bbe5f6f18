// SPDX-License-Identifier: MIT

// Package counter reads the processor's own counter: a call of a few instructions, without cgo and
// without a system call.
//
// The orderings are those of include/timebase/arch, which quotes the manuals.
package counter

import (
	"sort"
	"sync/atomic"
	"time"
)

// ID says which counter, by the numbers of the page (spec/page.md).
type ID uint32

// The counters that there are.
const (
	ArmVCNT   ID = 0
	X86TSC    ID = 1
	PowerTB   ID = 16
	RISCVTime ID = 17
	S390TOD   ID = 18
	OS        ID = 32 // CLOCK_MONOTONIC_RAW, one tick a nanosecond
	ByCPU     ID = 33 // the processor's, corrected by a table of CPUs: no page is over it, and only C reads it
)

var names = map[ID]string{
	ArmVCNT:   "Arm CNTVCT",
	X86TSC:    "x86 TSC",
	PowerTB:   "Power Time Base",
	RISCVTime: "RISC-V time",
	S390TOD:   "s390x TOD",
	OS:        "CLOCK_MONOTONIC_RAW",
	ByCPU:     "the processor's counter, corrected by CPU",
}

func (id ID) String() string {
	if name, ok := names[id]; ok {
		return name
	}
	return "unknown counter"
}

// A word on which counter this process reads, and how where that is not the processor's as it is.
type word struct {
	readable *int32 // not 0: the processor's counter may be read, as it is
	read     func() uint64
	id       func() ID
}

// It is found out once, without touching the counter; then the kernel's clock takes its place.
var here = word{readable: found(), read: OSTicks, id: func() ID { return OS }}

func found() *int32 {
	readable := new(int32)
	if hasCounter && isReadable() {
		*readable = 1
	}
	return readable
}

// Follow takes another's word from now on, the C library's: it may choose another counter, or correct this
// one by CPU, so that readable is 0. It is for the start of a program, before anybody reads.
func Follow(readable *int32, read func() uint64, id func() ID) {
	if !hasCounter {
		readable = here.readable
	}
	here = word{readable, read, id}
}

// IsReadable: this process may read the processor's counter, and does.
func IsReadable() bool { return atomic.LoadInt32(here.readable) != 0 }

// Here is the counter that Ticks reads.
func Here() ID {
	if IsReadable() {
		return processor
	}
	return here.id()
}

// Ticks is the cheapest reading: it may move before earlier and after later instructions.
func Ticks() uint64 {
	if IsReadable() {
		return ticks()
	}
	return here.read()
}

// Ordered is read after all earlier loads have got their values.
func Ordered() uint64 {
	if IsReadable() {
		return ordered()
	}
	return here.read()
}

// Begin is read after all that comes before it has completed, and before anything after it begins.
func Begin() uint64 {
	if IsReadable() {
		return begin()
	}
	return here.read()
}

// End is read after all that comes before it has completed, and before anything after it begins.
func End() uint64 {
	if IsReadable() {
		return end()
	}
	return here.read()
}

// Step is the smallest difference that the counter shows, in ticks: a median of 9, so that no interruption
// decides. Where a read takes longer than a step, it is what a read takes.
func Step() uint64 {
	const most, reads = 9, 5000
	var steps []uint64
	last := Ordered()
	for i := 0; i < reads && len(steps) < most; i++ {
		now := Ordered()
		if step := now - last; int64(step) > 0 {
			steps = append(steps, step)
		}
		last = now
	}
	if len(steps) == 0 {
		return 1
	}
	sort.Slice(steps, func(i, j int) bool { return steps[i] < steps[j] })
	return steps[len(steps)/2]
}

var started = time.Now()

// sinceStart serves where there is no CLOCK_MONOTONIC_RAW: a counter that no page is over.
func sinceStart() uint64 { return uint64(time.Since(started)) }
