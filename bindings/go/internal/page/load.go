// SPDX-License-Identifier: MIT

package page

import (
	"sync/atomic"

	"timebase.example/timebase/internal/counter"
	"timebase.example/timebase/internal/line"
)

// A publication takes longer than an attempt: even a few in a row never fail.
const attempts = 1000

// Lines takes the lines that the page has now, and their number. False if it has none, or (never
// seen) 1,000 publications fell into 1,000 attempts.
func (p *Page) Lines() (line.Lines, uint64, bool) {
	for i := 0; i < attempts; i++ {
		seq := atomic.LoadUint64(&p.seq) // (A)
		if seq == 0 {
			break
		}
		lines := p.copies[seq&1].lines()
		if atomic.LoadUint64(&p.seq) == seq { // (C): sync/atomic's loads stay in order
			return lines, seq, true
		}
	}
	return line.Lines{}, 0, false
}

// At says what a tick read earlier, or one to come, means by the lines of the page.
func (p *Page) At(ticks uint64) (line.Instant, bool) {
	lines, _, ok := p.Lines()
	return lines.At(ticks), ok
}

// Bounded is Read, with the errors and the flags of the line. The line's words are taken one by one:
// a struct of so many fields would go through memory, five times the price of the reading.
func (p *Page) Bounded() (utc int64, maxError, utcMaxError uint64, flags uint32, ok bool) {
	seq := atomic.LoadUint64(&p.seq) // (A)
	if seq == 0 {
		return 0, 0, 0, 0, false
	}
	ticks := counter.Ordered()
	c := &p.copies[seq&1]
	which, d, ok := c.now(ticks, atomic.LoadUint64(&p.refresh))
	if !ok {
		return 0, 0, 0, 0, false
	}
	l := c.of(which)
	period, flags := halves(atomic.LoadUint64(&l[periodFlagsAt]))
	driftRate, slewRate := halves(atomic.LoadUint64(&l[ratesAt]))
	elapsed := line.Elapsed(atomic.LoadUint64(&l[fracAt]), period, d)
	utc = int64(atomic.LoadUint64(&l[utcAt]) + elapsed)
	drifted := atomic.LoadUint64(&l[maxErrorAt]) + line.Growth(d, driftRate)
	maxError = drifted + line.Growth(d, slewRate)
	utcMaxError = drifted + atomic.LoadUint64(&l[utcMaxErrorAt])
	return utc, maxError, utcMaxError, flags, atomic.LoadUint64(&p.seq) == seq // (C)
}

// Instant reads the counter and says all that the tick means. False when the page has no line for
// now, or a publication fell between the two looks at its number. One attempt, no loop.
func (p *Page) Instant(now *line.Instant) bool {
	seq := atomic.LoadUint64(&p.seq) // (A)
	if seq == 0 {
		return false
	}
	ticks := counter.Ordered()
	c := &p.copies[seq&1]
	which, d, ok := c.now(ticks, atomic.LoadUint64(&p.refresh))
	if !ok {
		return false
	}
	l := c.of(which)
	period, flags := halves(atomic.LoadUint64(&l[periodFlagsAt]))
	driftRate, slewRate := halves(atomic.LoadUint64(&l[ratesAt]))
	estRate, _ := halves(atomic.LoadUint64(&c[estRateAt]))
	elapsed := line.Elapsed(atomic.LoadUint64(&l[fracAt]), period, d)
	drifted := atomic.LoadUint64(&l[maxErrorAt]) + line.Growth(d, driftRate)
	now.Ticks = ticks
	now.Mono = int64(atomic.LoadUint64(&l[monoAt]) + elapsed)
	now.UTC = int64(atomic.LoadUint64(&l[utcAt]) + elapsed)
	now.MaxError = drifted + line.Growth(d, slewRate)
	now.UTCMaxError = drifted + atomic.LoadUint64(&l[utcMaxErrorAt])
	now.EstError = atomic.LoadUint64(&c[estErrorAt+which]) + line.Growth(d, estRate)
	now.Flags = flags
	return atomic.LoadUint64(&p.seq) == seq // (C)
}

// of is one of the three lines, as words.
func (c *words) of(which line.Which) *[lineWords]uint64 {
	switch which {
	case line.After:
		return (*[lineWords]uint64)(c[afterAt : afterAt+lineWords])
	case line.Slew:
		return (*[lineWords]uint64)(c[slewAt : slewAt+lineWords])
	}
	return (*[lineWords]uint64)(c[beforeAt : beforeAt+lineWords])
}

// now is line_now() of the specification: which line, and the ticks since its start. In quiet times
// one comparison decides: a tick before `after` makes d huge.
func (c *words) now(ticks, refresh uint64) (which line.Which, d uint64, ok bool) {
	d = ticks - atomic.LoadUint64(&c[afterAt+startAt])
	if d <= refresh {
		return line.After, d, true
	}
	if int64(d) >= 0 {
		return 0, 0, false
	}
	d = ticks - atomic.LoadUint64(&c[slewAt+startAt])
	if int64(d) >= 0 {
		return line.Slew, d, true
	}
	d = ticks - atomic.LoadUint64(&c[beforeAt+startAt])
	return line.Before, d, int64(d) >= 0
}

// IsCurrent tells whether a tick that has just been read is on one of the page's lines.
func (p *Page) IsCurrent(ticks uint64) bool {
	seq := atomic.LoadUint64(&p.seq)
	if seq == 0 {
		return false
	}
	_, _, ok := p.copies[seq&1].now(ticks, atomic.LoadUint64(&p.refresh))
	return ok
}

// ReadAny is Read for any of the three lines, in Go: where there is no assembler, under the race
// detector, and where Read finds that the tick is not on `after`.
func (p *Page) ReadAny() (mono, utc int64, ok bool) { return p.readWhole(counter.Ordered) }

func (p *Page) readWhole(ticks func() uint64) (mono, utc int64, ok bool) {
	seq := atomic.LoadUint64(&p.seq) // (A)
	if seq == 0 {
		return 0, 0, false
	}
	c := &p.copies[seq&1]
	which, d, ok := c.now(ticks(), atomic.LoadUint64(&p.refresh))
	if !ok {
		return 0, 0, false
	}
	l := c.of(which)
	period, _ := halves(atomic.LoadUint64(&l[periodFlagsAt]))
	elapsed := line.Elapsed(atomic.LoadUint64(&l[fracAt]), period, d)
	mono = int64(atomic.LoadUint64(&l[monoAt]) + elapsed)
	utc = int64(atomic.LoadUint64(&l[utcAt]) + elapsed)
	return mono, utc, atomic.LoadUint64(&p.seq) == seq // (C)
}
