// SPDX-License-Identifier: MIT

package line

// For is the line in whose span a tick lies; `before` has no beginning.
func (l *Lines) For(ticks uint64) (*Line, Which) {
	if l.After.HasBegun(ticks) {
		return &l.After, After
	}
	if l.Slew.HasBegun(ticks) {
		return &l.Slew, Slew
	}
	return &l.Before, Before
}

// At is all that any tick says by these lines.
func (l *Lines) At(ticks uint64) Instant {
	of, which := l.For(ticks)
	d := ticks - of.Start
	var at Instant
	if int64(d) < 0 && which == Before {
		d = -d
		at = of.back(d)
	} else {
		at = of.At(d)
	}
	at.EstError = l.Validity.EstError[which] + Growth(d, l.Validity.EstRate)
	at.Flags = l.FlagsAt(ticks, at.Flags)
	at.Ticks = ticks
	return at
}

// FlagsAt is a line's flags at a tick: where nobody has renewed the lines in time, the status falls.
func (l *Lines) FlagsAt(ticks uint64, flags uint32) uint32 {
	d := ticks - l.After.Start
	status := flags & StatusMask
	isKept := status == Synchronized || status == Initializing
	switch {
	case int64(d) < 0:
		return flags
	case d >= l.Validity.Void:
		status = Unknown
	case isKept && d >= l.Validity.Silent:
		status = Freerunning
	}
	return flags&^StatusMask | status
}

// Impossible says what of the lines cannot be, or nothing: the ranges of spec/page.md.
func (l *Lines) Impossible(refresh uint64) string {
	v := &l.Validity
	switch {
	case refresh >= v.Silent || v.Silent > v.Void || v.Void > Never:
		return "they want renewal, fall silent and expire in another order"
	case v.EstError[0] > errorMax || v.EstError[1] > errorMax || v.EstError[2] > errorMax:
		return "an estimated error is out of range"
	case int64(l.Slew.Start-l.Before.Start) < 0 || int64(l.After.Start-l.Slew.Start) < 0:
		return "they begin in another order"
	}
	for _, of := range []*Line{&l.Before, &l.Slew, &l.After} {
		if what := of.impossible(); what != "" {
			return what
		}
	}
	return ""
}

const (
	periodMax = 1000    // ns; longer ticks would overflow a century
	errorMax  = 1 << 62 // ns; a sum of errors never looks small
)

func (l *Line) impossible() string {
	switch {
	case l.Period == 0 && l.Frac == 0:
		return "a tick has no length"
	case l.Period > periodMax:
		return "a tick is longer than 1,000 ns"
	case l.Flags&StatusMask > Unreliable:
		return "there is no such status"
	case int64(l.Mono) < 0:
		return "monotonic time is out of range"
	case l.MaxError > errorMax || l.UTCMaxError > errorMax:
		return "an error is out of range"
	}
	return ""
}
