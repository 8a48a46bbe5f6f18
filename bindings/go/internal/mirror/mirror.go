// SPDX-License-Identifier: MIT

// Package mirror follows another process' page by copies of it, as src/clock/attach does in C.
//
//	file --look--> lines --view--> shown    one line, for a lease: the readings of now
//	                     `-------> whole    all three: conversions, and readers that find somebody
//	                                        else at the lock
//
// Both pages are latched, and monotonic by themselves; where they overlap they show the same. Readers
// of the pages take no lock. One goroutine at a time looks at the file (renew.go, show.go); who finds
// it at work goes on by the present lines (follow.go).
package mirror

import "timebase.example/timebase/internal/line"

// State is how an attached clock stands with its page.
type State int

// The states, numbered as in the C library.
const (
	Current State = 1 + iota
	Silent
	Expired
)

// Attachment tells how things stand. Counts are since the page was attached.
type Attachment struct {
	State        State
	Err          error  // why the page cannot be followed just now
	Seq          uint64 // number of the publication that is followed
	AgeNS        uint64 // since its newest line began; 0: that is still to come
	MonoOffsetNS int64  // CLOCK_MONOTONIC here - the page's
	Renewals     uint64 // looks at the page
	Publications uint64 // of them, that found another one
	Openings     uint64 // the file was another one: opened again
	Refusals     uint64 // looks that found no page, or none to be trusted
	Joins        uint64 // lines that lay below what had been shown
	UTCSteps     uint64 // the page's own counts
	Late         uint64
	Disruptions  uint64
}

func hasPassed(ticks, now uint64) bool { return int64(now-ticks) >= 0 }

func later(a, b uint64) uint64 {
	if hasPassed(a, b) {
		return b
	}
	return a
}

func monoAt(lines *line.Lines, ticks uint64) int64 { return lines.At(ticks).Mono }
