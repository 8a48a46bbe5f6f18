// SPDX-License-Identifier: MIT

package line

// A slew brings 1 ns in 2,000: 500 ppm. A gap of more than slewMax comes from a fault: at 500 ppm
// its bridge would last for hours, so it runs at half the pace.
const (
	slewDivisor = 2000
	fastDivisor = 2
	slewMax     = 1_000_000 // ns

	// A bound grows by drift and by slews, each rounded down: in two pieces by 2 ns less than in one.
	rounded = 2
)

// Bridge is a reader's own line: where a writer's lines lie below what was shown already, it goes on
// slower, until they have overtaken it (docs/decisions/0012-own-lines.md).
type Bridge struct {
	Line     Line
	EstError uint64 // ns, of its start
	Gap      uint64 // how far it begins above the writer's lines, ns
	Length   uint64 // ticks until these have overtaken it, or a lease
}

// BridgeTo begins at floor ns of monotonic time at the tick start; old was shown up to there. UTC
// goes on along the bridge, unless the writer has changed its offset: then it is the writer's.
func (l *Lines) BridgeTo(old *Line, start uint64, floor int64, lease uint64) Bridge {
	under, _ := l.For(start)
	there := l.At(start)
	b := Bridge{Line: *under, Gap: uint64(floor) - uint64(there.Mono)}
	divisor := uint64(slewDivisor)
	if b.Gap > slewMax {
		divisor = fastDivisor
	}
	utc := uint64(there.UTC)
	if old.UTCOffset() == under.UTCOffset() {
		utc += b.Gap
	}
	b.Line.Start, b.Line.Mono, b.Line.UTC = start, uint64(floor), utc
	b.Line.setPeriod(under.period().less(under.period().over(divisor)))
	b.Line.MaxError = there.MaxError + b.Gap + rounded
	b.EstError = there.EstError + b.Gap
	ns := lease
	if b.Gap < lease/divisor {
		ns = b.Gap * divisor
	}
	b.Length = l.Ticks(ns)
	return b
}
