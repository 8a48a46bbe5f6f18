// SPDX-License-Identifier: MIT

package page

import (
	"encoding/binary"

	"timebase.example/timebase/internal/fault"
)

// Header fields come before all others: a page of version 1 is shorter, and is to be told so.
const headerBytes = 28

// FromBytes makes a page of its bytes in the given order. What has the header of another version is
// refused by it, what is too short or too long by its size; the rest is Validate's.
func FromBytes(b []byte, order binary.ByteOrder) (*Page, error) {
	p := new(Page)
	if len(b) < headerBytes {
		return nil, fault.Format.Because("it has %d bytes, and a page has %d", len(b), Size)
	}
	p.magicSize = whole(order.Uint32(b[16:]), order.Uint32(b[20:]))
	p.versionCounter = whole(order.Uint32(b[24:]), 0)
	if h := p.Header(); h.Magic == Magic && h.Version != Version || h.Magic != Magic {
		return nil, h.validate()
	}
	if len(b) < Size {
		return nil, fault.Format.Because("it has %d bytes, and a page has %d: it was cut short", len(b), Size)
	}
	p.fill(b, order)
	return p, nil
}

func (p *Page) fill(b []byte, order binary.ByteOrder) {
	word := func(at int) uint64 { return order.Uint64(b[at:]) }
	pair := func(at int) uint64 { return whole(order.Uint32(b[at:]), order.Uint32(b[at+4:])) }
	p.seq, p.refresh = word(0), word(8)
	p.magicSize, p.versionCounter = pair(16), pair(24)
	p.disruption, p.utcSteps, p.late = word(32), word(40), word(48)
	p.incompatible = pair(56)
	for i := range p.copies {
		for j := 0; j < valuedWords; j++ {
			at := 128 + 8*(i*len(p.copies[i])+j)
			if isPair(j) {
				p.copies[i][j] = pair(at)
			} else {
				p.copies[i][j] = word(at)
			}
		}
	}
}

// isPair tells whether a word of a copy is two fields of 32 bits.
func isPair(at int) bool {
	if at >= silentAt {
		return at == estRateAt
	}
	return at%lineWords == periodFlagsAt || at%lineWords == ratesAt
}
