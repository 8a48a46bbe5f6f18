// SPDX-License-Identifier: MIT

package line

// Flags of a line: status, what is known of leap seconds, and TAI - UTC in the upper half.
const (
	StatusMask        = 0x000f
	TAIValid          = 0x0010
	LeapInsert        = 0x0020
	LeapDelete        = 0x0040
	Estimate          = 0x0080
	NeverMoved        = 0x0100
	CounterDistrusted = 0x0200
	taiShift          = 16
)

// Status of a line.
const (
	Unknown uint32 = iota
	Initializing
	Synchronized
	Freerunning
	Unreliable
)

const nsPerSec = 1_000_000_000

// TAI is UTC plus the offset in the flags.
func TAI(utc int64, flags uint32) int64 { return utc + TAIOffset(flags)*nsPerSec }

// TAIOffset is TAI - UTC in seconds.
func TAIOffset(flags uint32) int64 { return int64(int16(flags >> taiShift)) }

// SetStatus of all three lines.
func (l *Lines) SetStatus(status uint32) {
	for _, of := range []*Line{&l.Before, &l.Slew, &l.After} {
		of.Flags = of.Flags&^StatusMask | status
	}
}
