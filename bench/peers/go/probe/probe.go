// SPDX-License-Identifier: MIT

// Package probe is the body of a Go probe: a fresh process that links one peer only. Its command
// line and output are those of cxx/probe.hpp.
package probe

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"
	"unsafe"
)

const clockMonotonic = 1

// monotonic asks the kernel for CLOCK_MONOTONIC: Go shows that clock only as differences, and the
// launcher compares this instant with its own.
func monotonic() int64 {
	var now syscall.Timespec
	_, _, errno := syscall.RawSyscall(
		syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&now)), 0)
	if errno != 0 {
		fail(errno.Error())
	}
	return now.Nano()
}

func fail(what string) {
	fmt.Fprintln(os.Stderr, os.Args[0]+": "+what)
	os.Exit(1)
}

// narrowest is peer - CLOCK_REALTIME from the narrowest of 1500 sandwiches, and that sandwich's
// width, in ns. The reference is time.Now, which reads CLOCK_REALTIME first and CLOCK_MONOTONIC
// second: the middle of the sandwich is early, and the peer seems late, by half of one such reading
// (about 10 ns). A syscall in its place would be worse.
func narrowest(read func() int64) (offset, width int64) {
	width = 1 << 62
	for i := 0; i < 1500; i++ {
		before := time.Now().UnixNano()
		reading := read()
		w := time.Now().UnixNano() - before
		if w >= 0 && w < width {
			offset, width = reading-(before+w/2), w
		}
	}
	return offset, width
}

// readUntil reads the peer every 10 ms, as a user would: a self-disciplined peer learns only when
// it is read.
func readUntil(end time.Time, read func() int64) {
	for time.Now().Before(end) {
		read()
		time.Sleep(10 * time.Millisecond)
	}
}

func errors(marks []string, read func() int64) {
	begin := time.Now()
	for _, mark := range marks {
		seconds, err := strconv.Atoi(mark)
		if err != nil {
			fail(err.Error())
		}
		readUntil(begin.Add(time.Duration(seconds)*time.Second), read)
		offset, width := narrowest(read)
		fmt.Println(mark, offset, width)
	}
}

// Run takes the first reading and then does what the command line says. The peer's clock is UTC.
func Run(read func() int64, fellBack bool) {
	read()
	first := monotonic()
	fell := 0
	if fellBack {
		fell = 1
	}
	switch {
	case len(os.Args) == 3 && os.Args[2] == "start":
		fmt.Println(first, fell)
	case len(os.Args) > 3 && os.Args[2] == "error":
		fmt.Println("ready", fell)
		errors(os.Args[3:], read)
	default:
		fail("usage: CLOCK start | error SECONDS...")
	}
}
