// SPDX-License-Identifier: MIT

// Package counter reads the processor's own counter: a call of a few instructions, without cgo and
// without a system call.
//
// The orderings are those of include/timebase/arch, which quotes the manuals.
package counter

import (
	"sort"
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
	ByCPU     ID = 33 // the processor's, corrected by a table of CPUs: no page is over it, and Go never reads it
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

// Readable: this process may read the processor's counter. Else the kernel's clock takes its place.
// It is found out once, without touching the counter.
var Readable = hasCounter && isReadable()

// Here is the counter that Ticks reads.
func Here() ID {
	if Readable {
		return processor
	}
	return OS
}

// Ticks is the cheapest reading: it may move before earlier and after later instructions.
func Ticks() uint64 {
	if Readable {
		return ticks()
	}
	return OSTicks()
}

// Ordered is read after all earlier loads have got their values.
func Ordered() uint64 {
	if Readable {
		return ordered()
	}
	return OSTicks()
}

// Begin is read after all that comes before it has completed, and before anything after it begins.
func Begin() uint64 {
	if Readable {
		return begin()
	}
	return OSTicks()
}

// End is read after all that comes before it has completed, and before anything after it begins.
func End() uint64 {
	if Readable {
		return end()
	}
	return OSTicks()
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
