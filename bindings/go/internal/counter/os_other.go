// SPDX-License-Identifier: MIT

//go:build !linux

package counter

// Without Linux there is no page to attach to, and nobody to ask whether the counter may be read.
func isReadable() bool { return false }

// OSTicks is the counter of last resort, one tick a nanosecond.
func OSTicks() uint64 { return sinceStart() }

// MonoNS: nobody tells the time since boot. Monotonic time begins with the program.
func MonoNS() int64 { return 0 }
