// SPDX-License-Identifier: MIT

//go:build timebase_cgo && cgo && linux

package timebase

// #include <stdlib.h>
// #include <timebase.h>
import "C"

import (
	"runtime"
	"time"
	"unsafe"

	"timebase.example/timebase/internal/fault"
)

// WaitFlags choose how a wait is done: include/timebase/wait.h tells what each is for.
type WaitFlags uint

// Bits of WaitFlags. 0 is an exact wait that polls.
const (
	WaitPlain      = WaitFlags(C.TIMEBASE_WAIT_PLAIN)
	WaitNeverEarly = WaitFlags(C.TIMEBASE_WAIT_NEVER_EARLY)
	WaitSleep      = WaitFlags(C.TIMEBASE_WAIT_SLEEP)
	WaitPrepare    = WaitFlags(C.TIMEBASE_WAIT_PREPARE)
	WaitSavePower  = WaitFlags(C.TIMEBASE_WAIT_SAVE_POWER)
	WaitSteady     = WaitFlags(C.TIMEBASE_WAIT_STEADY)
)

// WaitResult says how close a wait came, as the C library saw its end. Go's code runs some 50 ns later:
// the way back from C.
type WaitResult struct {
	Target, Event uint64  // ticks
	ErrorNS       float64 // event - target; above 0: late
	ErrorBoundNS  float64
	Late          bool   // the last approach began too late
	Disturbance   uint32 // 0: no evidence of any
}

// Waiter begins at an instant, by the C library's waits and the clock of this process. It has learnt
// the CPU it was made on; lock its goroutine to a thread, and the thread to a CPU. One goroutine.
type Waiter struct{ memory *C.struct_timebase_waiter }

// NewWaiter learns this CPU: some 3 ms.
func NewWaiter() (*Waiter, error) {
	memory := (*C.struct_timebase_waiter)(C.calloc(1, C.sizeof_struct_timebase_waiter))
	if memory == nil {
		return nil, fault.Resource
	}
	w := &Waiter{memory}
	runtime.SetFinalizer(w, (*Waiter).Close)
	if err := errorFromC(C.timebase_waiter_init(memory, C.timebase_clock_default())); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// Close gives the memory back.
func (w *Waiter) Close() error {
	C.free(unsafe.Pointer(w.memory))
	w.memory = nil
	runtime.SetFinalizer(w, nil)
	return nil
}

// Calibrate learns the CPU anew: after a move to another one.
func (w *Waiter) Calibrate() error {
	defer runtime.KeepAlive(w)
	return errorFromC(C.timebase_waiter_calibrate(w.memory))
}

// UntilUTC waits for a UTC in ns since 1970.
func (w *Waiter) UntilUTC(ns int64, flags WaitFlags) (WaitResult, error) {
	var result C.struct_timebase_wait_result
	defer runtime.KeepAlive(w)
	code := C.timebase_wait_until_utc(w.memory, C.int64_t(ns), C.uint(flags), &result)
	return resultFromC(&result), errorFromC(code)
}

// UntilMono waits for a monotonic time.
func (w *Waiter) UntilMono(mono time.Duration, flags WaitFlags) (WaitResult, error) {
	var result C.struct_timebase_wait_result
	defer runtime.KeepAlive(w)
	code := C.timebase_wait_until_mono(w.memory, C.int64_t(mono), C.uint(flags), &result)
	return resultFromC(&result), errorFromC(code)
}

// UntilTicks waits for a tick of the counter.
func (w *Waiter) UntilTicks(ticks uint64, flags WaitFlags) (WaitResult, error) {
	var result C.struct_timebase_wait_result
	defer runtime.KeepAlive(w)
	code := C.timebase_wait_until_ticks(w.memory, C.uint64_t(ticks), C.uint(flags), &result)
	return resultFromC(&result), errorFromC(code)
}

// Delay waits so long from now.
func (w *Waiter) Delay(d time.Duration, flags WaitFlags) (WaitResult, error) {
	var result C.struct_timebase_wait_result
	defer runtime.KeepAlive(w)
	if d < 0 {
		d = 0
	}
	code := C.timebase_delay_ns(w.memory, C.uint64_t(d), C.uint(flags), &result)
	return resultFromC(&result), errorFromC(code)
}

func resultFromC(c *C.struct_timebase_wait_result) WaitResult {
	return WaitResult{
		Target: uint64(c.target_ticks), Event: uint64(c.event_ticks), ErrorNS: float64(c.error_ns),
		ErrorBoundNS: float64(c.error_bound_ns), Late: c.late != 0, Disturbance: uint32(c.disturbance),
	}
}
