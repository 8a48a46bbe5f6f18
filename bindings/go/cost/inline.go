// SPDX-License-Identifier: MIT

package main

// #cgo pkg-config: timebase
// #include <stdlib.h>
// #include <timebase.h>
//
// static timebase_clock *the_clock;
// static volatile int64_t sink;
//
// static int attach(const char *path) { return timebase_clock_attach(&the_clock, path); }
//
// static void utc(uint64_t calls)
// {
//     const timebase_clock *clock = the_clock;
//     for (uint64_t i = 0; i < calls; i++)
//         sink = timebase_utc_ns(clock);
// }
//
// static void mono(uint64_t calls)
// {
//     const timebase_clock *clock = the_clock;
//     for (uint64_t i = 0; i < calls; i++)
//         sink = timebase_mono_ns(clock);
// }
//
// static void bounded(uint64_t calls)
// {
//     const timebase_clock *clock = the_clock;
//     struct timebase_interval now;
//     for (uint64_t i = 0; i < calls; i++) {
//         timebase_utc_interval(clock, &now);
//         sink = now.latest_ns;
//     }
// }
//
// static void ticks(uint64_t calls)
// {
//     for (uint64_t i = 0; i < calls; i++)
//         sink = (int64_t)timebase_ticks();
// }
import "C"

import (
	"fmt"
	"unsafe"
)

// The C readings as a C compiler inlines them: Go enters C once for a batch of calls.
func attachInC(path string) error {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	if code := C.attach(name); code != 0 {
		return fmt.Errorf("C cannot attach to %s: %s", path, C.GoString(C.timebase_strerror(code)))
	}
	return nil
}

func inlineUTC(calls int)     { C.utc(C.uint64_t(calls)) }
func inlineMono(calls int)    { C.mono(C.uint64_t(calls)) }
func inlineBounded(calls int) { C.bounded(C.uint64_t(calls)) }
func inlineTicks(calls int)   { C.ticks(C.uint64_t(calls)) }
