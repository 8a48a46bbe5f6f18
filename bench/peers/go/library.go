// SPDX-License-Identifier: MIT

// The Go peers as a C archive: the loops are Go, the driver enters once a batch.
package main

// #include <stdint.h>
import "C"

import (
	"time"

	"github.com/templexxx/tsc"
)

type peer struct {
	name     string
	run      func(calls uint64)
	fellBack func() bool
}

func never() bool { return false }

func tscFellBack() bool { return !tsc.Supported() }

// Every reading lands in a package variable, so that no call can be dropped. A time.Time is kept in
// a local: its store to a package variable would add a write barrier, no part of reading a clock.
var sink int64

func now(calls uint64) {
	var last time.Time
	for i := uint64(0); i < calls; i++ {
		last = time.Now()
	}
	sink = int64(last.Nanosecond())
}

func nowUnixNano(calls uint64) {
	for i := uint64(0); i < calls; i++ {
		sink = time.Now().UnixNano()
	}
}

var began = time.Now()

func since(calls uint64) {
	for i := uint64(0); i < calls; i++ {
		sink = int64(time.Since(began))
	}
}

func tscUnixNano(calls uint64) {
	for i := uint64(0); i < calls; i++ {
		sink = tsc.UnixNano()
	}
}

func tscCounter(calls uint64) {
	for i := uint64(0); i < calls; i++ {
		sink = tsc.RDTSC()
	}
}

var peers = []peer{
	{"go_now", now, never},
	{"go_now_unix_nano", nowUnixNano, never},
	{"go_since", since, never},
	{"templexxx_unix_nano", tscUnixNano, tscFellBack},
	{"templexxx_counter", tscCounter, tscFellBack},
}

// C strings are made once and live as long as the process: the driver may keep the pointers.
var names = cStrings()

func cStrings() []*C.char {
	made := make([]*C.char, len(peers))
	for i := range peers {
		made[i] = C.CString(peers[i].name)
	}
	return made
}

//export go_peer_name
func go_peer_name(number C.uint32_t) *C.char {
	if int(number) >= len(names) {
		return nil
	}
	return names[number]
}

//export go_peer_run
func go_peer_run(number C.uint32_t, calls C.uint64_t) C.uint64_t {
	if int(number) >= len(peers) {
		return 0
	}
	peers[number].run(uint64(calls))
	return calls
}

//export go_peer_fell_back
func go_peer_fell_back(number C.uint32_t) C.int32_t {
	if int(number) < len(peers) && peers[number].fellBack() {
		return 1
	}
	return 0
}

func main() {}
