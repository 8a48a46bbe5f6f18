// SPDX-License-Identifier: MIT

//go:build timebase_cgo && cgo && linux

package timebase

// #cgo pkg-config: timebase
// #include <timebase.h>
import "C"

import (
	"unsafe"

	"timebase.example/timebase/internal/counter"
	"timebase.example/timebase/internal/fault"
	"timebase.example/timebase/internal/line"
	"timebase.example/timebase/internal/page"
)

// C code of this process may choose another counter, or correct it by CPU: Go reads the same then, by a
// call of C.
func init() {
	counter.Follow((*int32)(unsafe.Pointer(&C.timebase_counter_readable)),
		func() uint64 { return uint64(C.timebase_ticks_ordered_probe()) },
		func() counter.ID { return counter.ID(C.timebase_counter_id()) })
}

// private is the C library's clock of this process. Its handle is the address of its page, so Go reads
// it by itself, and calls C where C's inline code would: when the lines want renewal, every 100 ms, and
// at each reading over another counter than the processor's, where the page is without lines.
func private() *Clock {
	handle := C.timebase_clock_default()
	return &Clock{page: (*page.Page)(unsafe.Pointer(handle)), kind: own{handle}}
}

type own struct{ handle *C.timebase_clock }

func (own) source() Source { return SourcePrivate }

func (o own) now() line.Instant {
	var now C.struct_timebase_instant
	C.timebase_now(o.handle, &now)
	return instantFromC(&now)
}

func (o own) at(ticks uint64) line.Instant {
	var at C.struct_timebase_instant
	C.timebase_at(o.handle, C.uint64_t(ticks), &at)
	return instantFromC(&at)
}

func instantFromC(c *C.struct_timebase_instant) line.Instant {
	return line.Instant{
		Ticks: uint64(c.ticks), Mono: int64(c.mono_ns), UTC: int64(c.utc_ns),
		MaxError: uint64(c.maxerror_ns), UTCMaxError: uint64(c.utc_maxerror_ns),
		EstError: uint64(c.esterror_ns), Flags: uint32(c.flags),
	}
}

func (o own) firstTick(ns int64, isUTC bool) (uint64, error) {
	if isUTC {
		return uint64(C.timebase_ticks_at_utc(o.handle, C.int64_t(ns))), nil
	}
	return uint64(C.timebase_ticks_at_mono(o.handle, C.int64_t(ns))), nil
}

// BUSY is no failure: another thread is at it, or the lines have only just been renewed.
func (o own) maintain() error {
	if err := errorFromC(C.timebase_clock_maintain(o.handle)); err != fault.Busy {
		return err
	}
	return nil
}

func (own) attachment() Attachment { return Attachment{} }

func (own) close() {}

var kindsFromC = map[C.int]fault.Kind{
	C.TIMEBASE_E_INVALID: fault.Invalid, C.TIMEBASE_E_UNSUPPORTED: fault.Unsupported,
	C.TIMEBASE_E_PERMISSION: fault.Permission, C.TIMEBASE_E_BUSY: fault.Busy,
	C.TIMEBASE_E_STALE: fault.Stale, C.TIMEBASE_E_DISRUPTED: fault.Disrupted,
	C.TIMEBASE_E_TORN: fault.Torn, C.TIMEBASE_E_FORMAT: fault.Format,
	C.TIMEBASE_E_REFERENCE: fault.Reference, C.TIMEBASE_E_TIMEOUT: fault.Timeout,
	C.TIMEBASE_E_NOT_FOUND: fault.NotFound, C.TIMEBASE_E_UNTRUSTED: fault.Untrusted,
	C.TIMEBASE_E_RESOURCE: fault.Resource, C.TIMEBASE_E_ESTIMATE: fault.Estimate,
	C.TIMEBASE_E_TOO_EARLY: fault.TooEarly, C.TIMEBASE_E_TOO_LATE: fault.TooLate,
	C.TIMEBASE_E_GAP: fault.Gap, C.TIMEBASE_E_AMBIGUOUS: fault.Ambiguous,
	C.TIMEBASE_E_NO_BOOT: fault.NoBoot,
}

// errorFromC is nil for 0 and above.
func errorFromC[Code interface{ ~int | ~int32 | ~int64 }](code Code) error {
	if code >= 0 {
		return nil
	}
	if kind, ok := kindsFromC[C.int(code)]; ok {
		return kind
	}
	return fault.Invalid.Because("%s (%d), says a C library that is newer than this package",
		textFromC(int(code)), code)
}

func textFromC(code int) string { return C.GoString(C.timebase_strerror(C.int(code))) }
