// SPDX-License-Identifier: MIT

package timebase

import (
	"time"

	"timebase.example/timebase/internal/counter"
	"timebase.example/timebase/internal/fault"
	"timebase.example/timebase/internal/line"
)

// system is the clock of last resort: time.Now, of which nobody knows how wrong it is.
type system struct{}

// What the kernel says of a clock that nobody disciplines, ns.
const unsynchronizedNS = 16_000_000_000

var (
	started      = time.Now()
	monoAtStart  = counter.MonoNS()
	errNoMeaning = fault.Unsupported.Because("by time.Now ticks mean nothing: attach to a page, " +
		"or build with -tags timebase_cgo")
)

func (system) source() Source { return SourceSystem }

func (system) now() line.Instant {
	now := time.Now()
	return line.Instant{
		Ticks: counter.Ordered(),
		UTC:   now.UnixNano(),
		Mono:  monoAtStart + int64(now.Sub(started)),
		// No more than time.Now's own two readings, one after the other.
		MaxError: 1000, UTCMaxError: unsynchronizedNS, EstError: 1000,
		Flags: line.Freerunning | line.Estimate,
	}
}

func (system) at(ticks uint64) line.Instant { return line.Instant{Ticks: ticks} }

func (system) firstTick(int64, bool) (uint64, error) { return 0, errNoMeaning }

func (system) maintain() error { return nil }

func (system) attachment() Attachment { return Attachment{} }

func (system) close() {}
