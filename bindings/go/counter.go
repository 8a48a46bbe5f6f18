// SPDX-License-Identifier: MIT

package timebase

import "timebase.example/timebase/internal/counter"

// CounterID says which counter, by the numbers of the page (spec/page.md).
type CounterID uint32

// The counters.
const (
	CounterArmVCNT   = CounterID(counter.ArmVCNT)
	CounterX86TSC    = CounterID(counter.X86TSC)
	CounterPowerTB   = CounterID(counter.PowerTB)
	CounterRISCVTime = CounterID(counter.RISCVTime)
	CounterS390TOD   = CounterID(counter.S390TOD)
	CounterOS        = CounterID(counter.OS)    // CLOCK_MONOTONIC_RAW, where no other may be read
	CounterByCPU     = CounterID(counter.ByCPU) // where C code of this process corrects it by CPU; with -tags timebase_cgo
)

func (id CounterID) String() string { return counter.ID(id).String() }

// Counter is the one that this process reads.
func Counter() CounterID { return CounterID(counter.Here()) }

// Ticks reads the counter, as cheaply as the processor allows: the reading may move before earlier
// and after later instructions. Ticks wrap: compare them by int64(a - b) < 0.
func Ticks() uint64 { return counter.Ticks() }

// TicksOrdered reads the counter after all earlier loads have got their values.
func TicksOrdered() uint64 { return counter.Ordered() }

// TicksOS is CLOCK_MONOTONIC_RAW in ns: the counter of last resort.
func TicksOS() uint64 { return counter.OSTicks() }
