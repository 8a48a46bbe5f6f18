// SPDX-License-Identifier: MIT

// Package page is the reader's and the mirror's side of the timebase page, version 2: spec/page.md.
//
// A page is an array of words and is only ever accessed through sync/atomic, but for read_*.s, where
// the loads are those of the specification: acquire, relaxed, fence. Arithmetic on what was loaded is
// in package line.
package page

import (
	"sync/atomic"

	"timebase.example/timebase/internal/line"
)

// The format, and what of it others need.
const (
	Magic   = 0x47504254
	Size    = 640
	Version = 2

	// LeaseNS is how long a copy of a shared page may be used to tell now.
	LeaseNS = 20_000_000
)

// Page is 640 bytes: its number, the header, two copies of the lines. new(Page) is aligned to a
// cache line, for Go has a size class of 640 bytes.
type Page struct {
	seq            uint64
	refresh        uint64
	magicSize      uint64 // two fields of 32 bits in a word: first and second, in memory's order
	versionCounter uint64
	disruption     uint64
	utcSteps       uint64
	late           uint64
	incompatible   uint64 // and a reserved half
	vmclock        uint64
	reserved       [7]uint64
	copies         [2]words
}

// words are three lines of eight words and their validity.
type words [32]uint64

// Where in a line, in words.
const (
	startAt = iota
	monoAt
	utcAt
	fracAt
	periodFlagsAt
	maxErrorAt
	ratesAt
	utcMaxErrorAt
	lineWords
)

// Where in a copy, in words.
const (
	beforeAt    = 0
	slewAt      = lineWords
	afterAt     = 2 * lineWords
	silentAt    = 3 * lineWords
	voidAt      = silentAt + 1
	estErrorAt  = silentAt + 2 // of before, slew, after
	estRateAt   = silentAt + 5 // and a reserved half
	valuedWords = silentAt + 6
)

// Header is what never changes after the first publication.
type Header struct {
	Magic, Size, Version, Counter, Incompatible uint32
}

// Counts are for people and monitors.
type Counts struct {
	Disruption, UTCSteps, Late uint64
}

// VMClock is the marker of the hypervisor's page for the moves that the lines account for; 0: not told.
func (p *Page) VMClock() uint64 { return atomic.LoadUint64(&p.vmclock) }

// Seq is the number of the publication; 0: no lines.
func (p *Page) Seq() uint64 { return atomic.LoadUint64(&p.seq) }

// Refresh is how long after the start of `after` the lines want renewal.
func (p *Page) Refresh() uint64 { return atomic.LoadUint64(&p.refresh) }

// Header reads the words that never change.
func (p *Page) Header() Header {
	var h Header
	h.Magic, h.Size = halves(atomic.LoadUint64(&p.magicSize))
	h.Version, h.Counter = halves(atomic.LoadUint64(&p.versionCounter))
	h.Incompatible, _ = halves(atomic.LoadUint64(&p.incompatible))
	return h
}

// Counts reads the three counts, which take no part in the protocol.
func (p *Page) Counts() Counts {
	return Counts{
		Disruption: atomic.LoadUint64(&p.disruption),
		UTCSteps:   atomic.LoadUint64(&p.utcSteps),
		Late:       atomic.LoadUint64(&p.late),
	}
}

func (c *words) line(at uint) line.Line {
	var l line.Line
	l.Start = atomic.LoadUint64(&c[at+startAt])
	l.Mono = atomic.LoadUint64(&c[at+monoAt])
	l.UTC = atomic.LoadUint64(&c[at+utcAt])
	l.Frac = atomic.LoadUint64(&c[at+fracAt])
	l.Period, l.Flags = halves(atomic.LoadUint64(&c[at+periodFlagsAt]))
	l.MaxError = atomic.LoadUint64(&c[at+maxErrorAt])
	l.DriftRate, l.SlewRate = halves(atomic.LoadUint64(&c[at+ratesAt]))
	l.UTCMaxError = atomic.LoadUint64(&c[at+utcMaxErrorAt])
	return l
}

func (c *words) validity() line.Validity {
	var v line.Validity
	v.Silent = atomic.LoadUint64(&c[silentAt])
	v.Void = atomic.LoadUint64(&c[voidAt])
	for i := range v.EstError {
		v.EstError[i] = atomic.LoadUint64(&c[estErrorAt+i])
	}
	v.EstRate, _ = halves(atomic.LoadUint64(&c[estRateAt]))
	return v
}

func (c *words) lines() line.Lines {
	return line.Lines{
		Before:   c.line(beforeAt),
		Slew:     c.line(slewAt),
		After:    c.line(afterAt),
		Validity: c.validity(),
	}
}
