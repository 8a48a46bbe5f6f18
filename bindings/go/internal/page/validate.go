// SPDX-License-Identifier: MIT

package page

import (
	"sync/atomic"

	"timebase.example/timebase/internal/fault"
)

// Features that these readers handle: none.
const understood = 0

// correctedByCPU is the one feature that has a name.
const correctedByCPU = 1

// Validate says whether this is a page that can be read: nil, or fault.Format, Unsupported, Stale,
// Torn, with what is wrong.
func (p *Page) Validate() error {
	if err := p.Header().validate(); err != nil {
		return err
	}
	seq := atomic.LoadUint64(&p.seq)
	if seq == 0 {
		return fault.Stale.Because("it has no lines yet: its writer has not begun; try again")
	}
	lines := p.copies[seq&1].lines()
	refresh := atomic.LoadUint64(&p.refresh)
	if atomic.LoadUint64(&p.seq) != seq {
		return fault.Torn.Because("it changed while it was looked at: try again")
	}
	if what := lines.Impossible(refresh); what != "" {
		return fault.Format.Because("its lines cannot be: %s; it is damaged or forged, restart its writer", what)
	}
	return nil
}

func (h Header) validate() error {
	switch {
	case h.Magic != Magic:
		return fault.Format.Because("it begins with %#08x where a page has %#08x: it is something else, "+
			"or of a machine with the other byte order", h.Magic, uint32(Magic))
	case h.Version != Version:
		return fault.Format.Because("it is of version %d, and this program reads version %d: "+
			"restart its writer, or upgrade the program", h.Version, Version)
	case h.Size != Size:
		return fault.Format.Because("it says that it has %d bytes, and a page of version %d has %d",
			h.Size, Version, Size)
	case h.Incompatible&^uint32(understood) == correctedByCPU:
		return fault.Unsupported.Because("its ticks are corrected by CPU, which this reader cannot do")
	case h.Incompatible&^uint32(understood) != 0:
		return fault.Unsupported.Because("it has features %#x that this reader does not know: "+
			"upgrade the program", h.Incompatible)
	}
	return nil
}
