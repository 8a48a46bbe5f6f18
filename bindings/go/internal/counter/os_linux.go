// SPDX-License-Identifier: MIT

package counter

import (
	"syscall"
	"unsafe"
)

// Kernel clocks, as clock_gettime numbers them.
const (
	Realtime     = 0
	Monotonic    = 1
	monotonicRaw = 4
)

// ClockNS asks the kernel, by a system call: the vDSO may be made of a counter that is switched
// off. False if a sandbox refuses.
func ClockNS(id int) (int64, bool) {
	var now syscall.Timespec
	_, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, uintptr(id),
		uintptr(unsafe.Pointer(&now)), 0)
	return now.Nano(), errno == 0
}

// OSTicks is the counter of last resort, one tick a nanosecond.
func OSTicks() uint64 {
	if ns, ok := ClockNS(monotonicRaw); ok {
		return uint64(ns)
	}
	return sinceStart()
}

// Would reading the counter raise SIGSEGV (PR_SET_TSC)? EINVAL is the answer of a kernel without
// this switch; any other refusal comes from a sandbox, and then nobody knows.
func isSwitchedOff() bool {
	const prGetTSC, tscSigsegv = 25, 2
	var mode int32
	_, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, prGetTSC, uintptr(unsafe.Pointer(&mode)), 0)
	if errno != 0 {
		return errno != syscall.EINVAL
	}
	return mode == tscSigsegv
}

// MonoNS is the time since boot; 0 where a sandbox refuses to tell.
func MonoNS() int64 {
	ns, _ := ClockNS(Monotonic)
	return ns
}
