// SPDX-License-Identifier: MIT

/*
Package timebase gives a program the time from the processor's own counter, and says how wrong that
can be.

	now := timebase.Now()                  // a time.Time, for what takes one
	ns := timebase.UTC()                   // ns since 1970: the cheapest
	when, status := timebase.UTCInterval() // between what true UTC lies
	stamp := timebase.Ticks()              // now a register is read,
	at := timebase.At(stamp)               // and later converted

A reading is one call of an assembler function and no system call. Nothing here needs cgo: the clock
is the page that the daemon timebased keeps (docs/guide/go.md), and Go reads it by itself.

# Which clock

The functions of the package use the clock of [Default], which is chosen once:

	SourcePage     the daemon's page, /run/timebase/page: shared by all processes of the machine
	SourcePrivate  the C library's clock of this process; if built with -tags timebase_cgo
	SourceSystem   time.Now, if there is neither: [Clock.Err] says why

A program that must not run by a lesser clock than the daemon's attaches to it, and looks at the
error:

	clock, err := timebase.Attach("")
	if errors.Is(err, timebase.ErrNotFound) { ... }

# Order, goroutines

Readings are ordered after all earlier loads: if one goroutine's reading happens before another's, it
is not later. Those that are called Unordered are cheaper and order nothing. Monotonic time never goes
back; it tracks the kernel's CLOCK_MONOTONIC. All methods of a [Clock] may be called from any
goroutine.

About every 20 ms of use one reading looks at the page, which takes a system call or two. To keep this
out of a goroutine, call [Clock.Maintain] from another one every 10 ms.

# Import path

The project has no public home yet. The path timebase.example/timebase is a placeholder in the domain
that is reserved for examples; use it with a replace directive, as docs/guide/go.md shows.
*/
package timebase
