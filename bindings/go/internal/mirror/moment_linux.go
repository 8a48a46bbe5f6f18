// SPDX-License-Identifier: MIT

package mirror

import (
	"timebase.example/timebase/internal/counter"
	"timebase.example/timebase/internal/line"
)

const (
	// Beyond the bound of the lines: the looking itself, and the writer's own tolerance for a jump.
	partingNS = 1_000_000
	// What the kernel says of a clock that nobody disciplines (NTP_PHASE_LIMIT).
	unsynchronizedNS = 16_000_000_000
)

// moment is the kernel's clocks beside the counter. A reader compares overdue lines with them: the
// machine may have slept while its counter ran, or the counter may have stopped.
type moment struct {
	before, after uint64 // ticks
	mono          int64  // CLOCK_MONOTONIC here, somewhere between the two
	utc           int64  // CLOCK_REALTIME, within err after it
	err           uint64
}

// counterStep is the counter's: tests put that of another counter in its place.
var counterStep = counter.Step

// kernelNS asks for a clock of the kernel: tests put sleeping machines in its place.
var kernelNS = counter.ClockNS

func lookAtClocks() (m moment, ok bool) {
	m.before = counter.Ordered()
	mono, ok1 := kernelNS(counter.Monotonic)
	utc, ok2 := kernelNS(counter.Realtime)
	again, ok3 := kernelNS(counter.Monotonic)
	m.after = counter.Ordered()
	m.mono, m.utc, m.err = mono, utc, uint64(again-mono)
	return m, ok1 && ok2 && ok3
}

// isOutside: ns is outside [earliest - err, latest + err]. Differences wrap, and no sum overflows.
func isOutside(ns, earliest, latest int64, err uint64) bool {
	below, above := earliest-ns, ns-latest
	return below > 0 && uint64(below) > err || above > 0 && uint64(above) > err
}

// hasParted: the lines are further from the clocks than their bound and slewing explain. monoOffset:
// CLOCK_MONOTONIC here - the lines'.
func (m *moment) hasParted(lines *line.Lines, monoOffset int64) bool {
	before, after := lines.At(m.before), lines.At(m.after)
	err := after.MaxError + partingNS
	return isOutside(m.mono-monoOffset, before.Mono, after.Mono, err) ||
		isOutside(m.utc, before.UTC, after.UTC, err)
}

// verdict is what the clocks say of lines.
type verdict int

const (
	agree      verdict = iota
	distrusted         // the kernel distrusts the counter
	parted             // as hasParted says
)

// judge: unless they agree, m.lines() serve.
func (m *moment) judge(lines *line.Lines, monoOffset int64) verdict {
	switch {
	case m.hasParted(lines, monoOffset):
		return parted
	case lines.IsDistrusted():
		return distrusted
	}
	return agree
}

// agreesInUTC: CLOCK_REALTIME is where the lines have it, to within their bound and nothing more.
func (m *moment) agreesInUTC(lines *line.Lines) bool {
	before, after := lines.At(m.before), lines.At(m.after)
	return !isOutside(m.utc, before.UTC, after.UTC, after.MaxError)
}

// lines are the reader's own, on the clocks, for the time until the writer has seen them: at the pace
// of its lines, UNRELIABLE or still UNKNOWN, and no promise about true UTC. They never lie below the clocks.
func (m *moment) lines(writers *line.Lines, monoOffset int64) line.Lines {
	own := writers.After
	own.Start = m.before
	own.Mono, own.UTC = uint64(m.mono-monoOffset), uint64(m.utc)
	// A counter with steps may show a tick one step old, here and where the line is read.
	own.MaxError = writers.ElapsedNS(m.after-m.before+counterStep()) + m.err + 1
	own.UTCMaxError = unsynchronizedNS
	l := line.Lines{Before: own, Slew: own, After: own, Validity: writers.Validity}
	if own.Flags&line.StatusMask != line.Unknown { // which stays: nobody has kept them for long
		l.SetStatus(line.Unreliable)
	}
	for i := range l.Validity.EstError {
		l.Validity.EstError[i] = own.MaxError
	}
	return l
}
