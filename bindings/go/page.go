// SPDX-License-Identifier: MIT

package timebase

import (
	"encoding/binary"
	"time"

	"timebase.example/timebase/internal/counter"
	"timebase.example/timebase/internal/fault"
	"timebase.example/timebase/internal/line"
	"timebase.example/timebase/internal/page"
)

// Page is a saved page: it converts ticks that were logged while it held, by this machine or another.
type Page struct {
	lines line.Lines
	seq   uint64
	id    counter.ID
}

// ParsePage reads the 640 bytes of a page, of a machine of either byte order, and checks them.
// ErrFormat, ErrUnsupported or ErrStale say what is wrong with them.
func ParsePage(b []byte) (*Page, error) {
	order := page.Native
	if len(b) >= 20 && order.Uint32(b[16:]) != page.Magic {
		order = otherOrder()
		if order.Uint32(b[16:]) != page.Magic {
			order = page.Native
		}
	}
	p, err := page.FromBytes(b, order)
	if err == nil {
		err = p.Validate()
	}
	if err != nil {
		return nil, fault.In("the page", err)
	}
	lines, seq, _ := p.Lines()
	return &Page{lines: lines, seq: seq, id: counter.ID(p.Header().Counter)}, nil
}

func otherOrder() binary.ByteOrder {
	if page.IsBig {
		return binary.LittleEndian
	}
	return binary.BigEndian
}

// Counter is whose ticks it converts.
func (p *Page) Counter() CounterID { return CounterID(p.id) }

// Seq is the number of its publication.
func (p *Page) Seq() uint64 { return p.seq }

// At is what a tick means by this page, however far from its lines. The bound grows with the
// distance, and the status says where the page has expired.
func (p *Page) At(ticks uint64) Instant {
	at := p.lines.At(ticks)
	return instantOf(&at)
}

// TicksAtUTC is the first tick at which UTC is ns or later; out of reach, the first or last tick of
// the page's range.
func (p *Page) TicksAtUTC(ns int64) uint64 { return p.lines.FirstTick(ns, true) }

// TicksAtMono is the first tick at which monotonic time is mono or later.
func (p *Page) TicksAtMono(mono time.Duration) uint64 { return p.lines.FirstTick(int64(mono), false) }
