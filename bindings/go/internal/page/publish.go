// SPDX-License-Identifier: MIT

package page

import (
	"sync/atomic"

	"timebase.example/timebase/internal/counter"
	"timebase.example/timebase/internal/line"
)

// refreshMax leaves room for a tick before `after` to look huge.
const refreshMax = 1 << 62

// Begin makes an empty page over a counter.
func Begin(id counter.ID) *Page {
	p := new(Page)
	p.magicSize = whole(Magic, Size)
	p.versionCounter = whole(Version, uint32(id))
	return p
}

// Publish writes the next lines: the other copy, then the number. One writer at a time. All stores
// of sync/atomic are ordered, so they are the fences (B), (D) and (E) of the specification.
func (p *Page) Publish(lines *line.Lines, refresh uint64) {
	if refresh > refreshMax {
		refresh = refreshMax
	}
	seq := atomic.LoadUint64(&p.seq) + 1
	c := &p.copies[seq&1]
	c.setLine(beforeAt, &lines.Before)
	c.setLine(slewAt, &lines.Slew)
	c.setLine(afterAt, &lines.After)
	c.setValidity(&lines.Validity)
	atomic.StoreUint64(&p.refresh, lesser(atomic.LoadUint64(&p.refresh), refresh))
	atomic.StoreUint64(&p.seq, seq)         // (D)
	atomic.StoreUint64(&p.refresh, refresh) // (E)
}

// lesser has the lesser upper and the lesser lower half, for readers that load halves.
func lesser(a, b uint64) uint64 {
	low, high := uint64(uint32(a)), a>>32
	if l := uint64(uint32(b)); l < low {
		low = l
	}
	if h := b >> 32; h < high {
		high = h
	}
	return high<<32 | low
}

func (c *words) setLine(at int, l *line.Line) {
	atomic.StoreUint64(&c[at+startAt], l.Start)
	atomic.StoreUint64(&c[at+monoAt], l.Mono)
	atomic.StoreUint64(&c[at+utcAt], l.UTC)
	atomic.StoreUint64(&c[at+fracAt], l.Frac)
	atomic.StoreUint64(&c[at+periodFlagsAt], whole(l.Period, l.Flags))
	atomic.StoreUint64(&c[at+maxErrorAt], l.MaxError)
	atomic.StoreUint64(&c[at+ratesAt], whole(l.DriftRate, l.SlewRate))
	atomic.StoreUint64(&c[at+utcMaxErrorAt], l.UTCMaxError)
}

func (c *words) setValidity(v *line.Validity) {
	atomic.StoreUint64(&c[silentAt], v.Silent)
	atomic.StoreUint64(&c[voidAt], v.Void)
	for i, ns := range v.EstError {
		atomic.StoreUint64(&c[estErrorAt+i], ns)
	}
	atomic.StoreUint64(&c[estRateAt], whole(v.EstRate, 0))
}
