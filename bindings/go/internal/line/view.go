// SPDX-License-Identifier: MIT

package line

// View is what an attached clock shows of the lines that it has copied: one line at a time, as
// `after`, until the next one begins or the lease ends, so that the readers' one comparison sends
// them to the slow path in time (src/clock/attach/view.h has a picture).
type View struct {
	Lines   Lines
	Refresh uint64 // of `after`
}

// ViewAt is the view of lines that were copied no earlier than at the tick now, for a lease in ns.
func (l *Lines) ViewAt(now, lease uint64) View {
	v := View{Lines: *l}
	end := now + l.Ticks(lease)
	if !l.After.HasBegun(now) {
		end = earlier(end, l.After.Start-1)
		v.Lines.showSlewAsAfter()
	}
	if !l.Slew.HasBegun(now) {
		end = earlier(end, l.Slew.Start-1)
		v.Lines.showSlewAsAfter()
	}
	if v.Lines.After.HasBegun(end) {
		v.Refresh = end - v.Lines.After.Start
	}
	v.setExpiry(l)
	return v
}

// ViewJoin is the view where the lines lie below what was shown: old up to start, and floor there.
func (l *Lines) ViewJoin(old *Line, start uint64, floor int64, lease uint64) View {
	b := l.BridgeTo(old, start, floor, lease)
	v := View{Lines{*old, *old, b.Line, l.Validity}, b.Length}
	// Up to the bridge the old line is as far ahead, more than its writer knew.
	v.Lines.Before.MaxError += b.Gap
	v.Lines.Slew.MaxError += b.Gap
	v.Lines.Validity.EstError[Before] += b.Gap
	v.Lines.Validity.EstError[Slew] += b.Gap
	v.Lines.Validity.EstError[After] = b.EstError
	v.setExpiry(l)
	return v
}

// ViewAbove takes the place of a view that has come to its end, where old has told floor at the tick start:
// the view of the lines, or the bridge if they lie lower there.
func (l *Lines) ViewAbove(old *Line, start uint64, floor int64, now, lease uint64) (v View, isBridge bool) {
	if l.At(start).Mono < floor {
		return l.ViewJoin(old, start, floor, lease), true
	}
	return l.ViewAt(now, lease), false
}

// End is the last tick that is shown.
func (v *View) End() uint64 { return v.Lines.After.Start + v.Refresh }

func earlier(a, b uint64) uint64 {
	if int64(a-b) < 0 {
		return a
	}
	return b
}

func (l *Lines) showSlewAsAfter() {
	l.After, l.Slew = l.Slew, l.Before
	l.Validity.EstError[After] = l.Validity.EstError[Slew]
	l.Validity.EstError[Slew] = l.Validity.EstError[Before]
}

// The expiry of the lines, for a view of them: a page is not silent before it wants renewal, so
// lines that expire within their lease do so at its end.
func (v *View) setExpiry(l *Lines) {
	by := int64(l.After.Start - v.Lines.After.Start)
	v.Lines.Validity.Silent = moved(l.Validity.Silent, by, v.Refresh+1)
	v.Lines.Validity.Void = moved(l.Validity.Void, by, v.Refresh+1)
}

// moved are ticks after one start of a line as ticks after another, by ticks earlier or later.
func moved(ticks uint64, by int64, least uint64) uint64 {
	if ticks == Never {
		return ticks
	}
	there := ticks + uint64(by)
	if by < 0 && ticks < -uint64(by) {
		there = 0
	}
	if there > Never {
		return Never
	}
	if there < least {
		return least
	}
	return there
}

// Due is when the lines want renewal; a writer that wants it in more than 4 s is not waited for.
func (l *Lines) Due(refresh uint64) uint64 {
	const horizonMax = 4_000_000_000 // ns
	if horizon := l.Ticks(horizonMax); refresh > horizon {
		refresh = horizon
	}
	return l.After.Start + refresh
}

// LeaveOut: do they say nothing of the tick now by themselves: due by then, or before them?
func (l *Lines) LeaveOut(refresh, now uint64) bool {
	return !l.Before.HasBegun(now) || int64(now-l.Due(refresh)) >= 0
}

// IsDoubtful: have they to be held against the kernel's clocks? If they are left out, or the kernel distrusts
// the counter.
func (l *Lines) IsDoubtful(refresh, now uint64) bool {
	return l.LeaveOut(refresh, now) || l.IsDistrusted()
}

// IsDistrusted: the kernel has thrown the counter away. What it shows by now, no line of a while ago can know.
func (l *Lines) IsDistrusted() bool { return l.After.Flags&CounterDistrusted != 0 }
