// SPDX-License-Identifier: MIT

package mirror

import (
	"fmt"
	"os"
	"strings"
	"time"

	"timebase.example/timebase/internal/counter"
	"timebase.example/timebase/internal/fault"
	"timebase.example/timebase/internal/line"
	"timebase.example/timebase/internal/page"
)

// Beyond the page's own bound: the writer has not seen a step of the system clock yet, or this thread
// was held up between two looks.
const toleranceNS = 100_000_000

// plausibleLines is the cheap part: possible periods, this process' counter, and lines that have
// begun.
func plausibleLines(p *page.Page) (line.Lines, error) {
	lines, _, ok := p.Lines()
	switch id := counter.ID(p.Header().Counter); {
	case !ok:
		return lines, fault.Stale.Because("it has no lines")
	case !lines.IsPossible():
		return lines, fault.Format.Because("its counter would be faster than 1 THz: it is damaged or forged, restart its writer")
	case id != counter.Here():
		return lines, fault.Unsupported.Because("it is over the counter %d (%v), and this process reads %d (%v)",
			uint32(id), id, uint32(counter.Here()), counter.Here())
	case !lines.Before.HasBegun(counter.Ordered()):
		return lines, fault.Stale.Because("its lines have not begun: they are of another boot or machine")
	}
	return lines, nil
}

// plausiblePage is all of it: against CLOCK_REALTIME, which is one for all, and CLOCK_MONOTONIC, which
// a time namespace moves. It gives how far that has been moved here from where the page's writer is.
func plausiblePage(p *page.Page) (monoOffset int64, err error) {
	lines, err := plausibleLines(p)
	if err != nil {
		return 0, err
	}
	m, ok := lookAtClocks()
	if !ok {
		return 0, fault.Reference.Because("there is no clock to compare it with: a sandbox refuses clock_gettime")
	}
	now := lines.At(counter.Ordered())
	bound := now.MaxError + m.err
	if off := m.utc - now.UTC; !isWithin(off, bound) {
		return 0, fault.Stale.Because("its UTC is %v off CLOCK_REALTIME: it is of another boot or machine, "+
			"or the system clock was just stepped; try again in a second", time.Duration(off))
	}
	offset, ok := explain(m.mono-now.Mono, bound)
	if !ok {
		return 0, fault.Stale.Because("its monotonic time is %v off CLOCK_MONOTONIC: it is of another boot",
			time.Duration(m.mono-now.Mono))
	}
	// A time namespace shifts the kernel's clock that serves as the counter, too. Then UTC by such
	// ticks is off, perhaps by little, so no tolerance is added to the page's bound.
	if counter.Here() == counter.OS && !m.agreesInUTC(&lines) {
		return 0, fault.Stale.Because("its counter is shifted by a time namespace")
	}
	return offset, nil
}

func sizeOf(difference int64) uint64 {
	if difference < 0 {
		return -uint64(difference)
	}
	return uint64(difference)
}

func isWithin(difference int64, err uint64) bool { return sizeOf(difference) <= err+toleranceNS }

// explain: does a time namespace explain a difference of monotonic time? Yes, if its offset says so.
// Where that cannot be read (no /proc, or this process has moved), yes too: UTC agrees, so it is the
// same machine. The offset that is read is exact; the difference that is seen has the page's error in
// it, and any delay between the two looks.
func explain(difference int64, err uint64) (offset int64, ok bool) {
	if sizeOf(difference) <= err {
		return 0, true
	}
	offset, known := namespaceOffset()
	if !known {
		if isWithin(difference, err) {
			return 0, true
		}
		return difference, true
	}
	if rest := difference - offset; sizeOf(rest) < sizeOf(difference) {
		return offset, isWithin(rest, err)
	}
	return 0, isWithin(difference, err) // the writer is in the same one
}

// procSelf is where namespaces are looked up.
var procSelf = "/proc/self"

// namespaceOffset is CLOCK_MONOTONIC here - that of the first namespace. The file tells of the
// children's; ours is the same, or we do not know it.
func namespaceOffset() (ns int64, ok bool) {
	own, err1 := os.Readlink(procSelf + "/ns/time")
	children, err2 := os.Readlink(procSelf + "/ns/time_for_children")
	text, err3 := os.ReadFile(procSelf + "/timens_offsets")
	if err1 != nil || err2 != nil || err3 != nil || own != children {
		return 0, false
	}
	var sec, rest int64
	for _, row := range strings.Split(string(text), "\n") {
		if n, _ := fmt.Sscanf(row, "monotonic %d %d", &sec, &rest); n == 2 {
			return sec*1e9 + rest, true
		}
	}
	return 0, false
}
