// SPDX-License-Identifier: MIT

//go:build timebase_cgo && cgo && linux

package timebase

// #include <stdlib.h>
// #include <timebase.h>
import "C"

import (
	"runtime"
	"strings"
	"unsafe"

	"timebase.example/timebase/internal/fault"
)

// BootID names a boot of a machine: /proc/sys/kernel/random/boot_id, in the order of its text.
type BootID [C.TIMEBASE_BOOT_ID_SIZE]byte

// Timeline converts ticks of the past, by the lines that readers followed then: the daemon keeps them
// in a folder. It is the C library's, so it needs -tags timebase_cgo. One goroutine at a time.
type Timeline struct{ handle *C.timebase_timeline }

// TimelineBoot is what the folder holds of one boot.
type TimelineBoot struct {
	ID                  BootID
	Counter             CounterID
	Gaps                int
	FirstTick, LastTick uint64
	FirstUTC, LastUTC   int64
}

// TimelineGap is a stretch of ticks for which there is no line: from From to before To.
type TimelineGap struct {
	Boot              BootID
	Counter           CounterID
	Reason            string
	From, To          uint64
	FromUTC, UntilUTC int64
}

// TimelineDamage is what no record is in a file of the folder, and is passed over.
type TimelineDamage struct {
	Segment      uint32
	Offset, Size uint64
}

// OpenTimeline opens the timeline in a folder, /var/lib/timebase/timeline as a rule.
func OpenTimeline(folder string) (*Timeline, error) {
	if strings.IndexByte(folder, 0) >= 0 {
		return nil, fault.Invalid.Because("there is a null byte in the folder's name: C would take the part before it")
	}
	name := C.CString(folder)
	defer C.free(unsafe.Pointer(name))
	t := new(Timeline)
	if err := errorFromC(C.timebase_timeline_open(&t.handle, name)); err != nil {
		return nil, fault.In(folder, err)
	}
	runtime.SetFinalizer(t, (*Timeline).Close)
	return t, nil
}

// Close gives files and memory back.
func (t *Timeline) Close() error {
	C.timebase_timeline_close(t.handle)
	t.handle = nil
	runtime.SetFinalizer(t, nil)
	return nil
}

func (boot *BootID) c() *C.uint8_t { return (*C.uint8_t)(unsafe.Pointer(boot)) }

// At is what a tick meant. The boot is one of Boots, or nil for whichever showed this tick.
// ErrTooEarly, ErrTooLate, ErrGap, ErrAmbiguous or ErrNoBoot say why nobody knows.
func (t *Timeline) At(boot *BootID, ticks uint64) (Instant, error) {
	var at C.struct_timebase_instant
	defer runtime.KeepAlive(t)
	if err := errorFromC(C.timebase_timeline_at(t.handle, boot.c(), C.uint64_t(ticks), &at)); err != nil {
		return Instant{}, err
	}
	instant := instantFromC(&at)
	return instantOf(&instant), nil
}

// AtMany is At for many ticks: fastest if they are sorted. An error is nil where its tick is known.
func (t *Timeline) AtMany(boot *BootID, ticks []uint64) ([]Instant, []error) {
	instants, errors := make([]Instant, len(ticks)), make([]error, len(ticks))
	if len(ticks) == 0 {
		return instants, errors
	}
	out := make([]C.struct_timebase_instant, len(ticks))
	results := make([]C.int32_t, len(ticks))
	done := C.timebase_timeline_at_many(t.handle, boot.c(), (*C.uint64_t)(unsafe.Pointer(&ticks[0])),
		C.size_t(len(ticks)), &out[0], &results[0])
	runtime.KeepAlive(t)
	for i := range ticks {
		if errors[i] = errorFromC(results[i]); done < 0 {
			errors[i] = errorFromC(done)
		} else if errors[i] == nil {
			instant := instantFromC(&out[i])
			instants[i] = instantOf(&instant)
		}
	}
	return instants, errors
}

// TicksAtUTC is the first tick at which UTC was ns or later.
func (t *Timeline) TicksAtUTC(boot *BootID, ns int64) (uint64, error) {
	var ticks C.uint64_t
	err := errorFromC(C.timebase_timeline_ticks_at_utc(t.handle, boot.c(), C.int64_t(ns), &ticks))
	runtime.KeepAlive(t)
	return uint64(ticks), err
}

// SetDrawingOn has ticks after the end of the newest boot converted by its last lines.
func (t *Timeline) SetDrawingOn(on bool) {
	C.timebase_timeline_set_drawing_on(t.handle, C.bool(on))
	runtime.KeepAlive(t)
}

// listFromC is what a look stores, or its error. A writer may add some between the two looks: those
// beyond the room are left to the next question.
func listFromC[Item any](t *Timeline, look func(found *Item, room C.size_t) C.int64_t) ([]Item, error) {
	defer runtime.KeepAlive(t)
	there := look(nil, 0)
	if there < 0 {
		return nil, errorFromC(there)
	}
	found := make([]Item, there+1)
	there = look(&found[0], C.size_t(len(found)))
	if there < 0 {
		return nil, errorFromC(there)
	}
	if int(there) < len(found) {
		found = found[:there]
	}
	return found, nil
}

// Boots are what the folder holds, oldest first. An error says that it can no longer be read, as it
// does of Gaps and Damages.
func (t *Timeline) Boots() ([]TimelineBoot, error) {
	found, err := listFromC(t, func(found *C.struct_timebase_timeline_boot, room C.size_t) C.int64_t {
		return C.timebase_timeline_boots(t.handle, found, room)
	})
	boots := make([]TimelineBoot, 0, len(found))
	for i := range found {
		b := &found[i]
		boots = append(boots, TimelineBoot{
			ID: *(*BootID)(unsafe.Pointer(&b.id)), Counter: CounterID(b.counter_id), Gaps: int(b.gap_count),
			FirstTick: uint64(b.first_ticks), LastTick: uint64(b.last_ticks),
			FirstUTC: int64(b.first_utc_ns), LastUTC: int64(b.last_utc_ns),
		})
	}
	return boots, err
}

// Gaps are the stretches without lines, oldest first.
func (t *Timeline) Gaps() ([]TimelineGap, error) {
	found, err := listFromC(t, func(found *C.struct_timebase_timeline_gap, room C.size_t) C.int64_t {
		return C.timebase_timeline_gaps(t.handle, found, room)
	})
	gaps := make([]TimelineGap, 0, len(found))
	for i := range found {
		g := &found[i]
		gaps = append(gaps, TimelineGap{
			Boot: *(*BootID)(unsafe.Pointer(&g.boot)), Counter: CounterID(g.counter_id),
			Reason: C.GoString(C.timebase_timeline_reason_name(C.int(g.reason))),
			From:   uint64(g.from_ticks), To: uint64(g.to_ticks),
			FromUTC: int64(g.from_utc_ns), UntilUTC: int64(g.to_utc_ns),
		})
	}
	return gaps, err
}

// Damages are the bytes that are passed over.
func (t *Timeline) Damages() ([]TimelineDamage, error) {
	found, err := listFromC(t, func(found *C.struct_timebase_timeline_damage, room C.size_t) C.int64_t {
		return C.timebase_timeline_damages(t.handle, found, room)
	})
	damages := make([]TimelineDamage, 0, len(found))
	for i := range found {
		d := &found[i]
		damages = append(damages, TimelineDamage{uint32(d.segment), uint64(d.offset), uint64(d.size)})
	}
	return damages, err
}
