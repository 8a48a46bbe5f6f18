// SPDX-License-Identifier: MIT

package mirror

import (
	"math/bits"
	"sync/atomic"
	"syscall"
	"unsafe"

	"timebase.example/timebase/internal/line"
	"timebase.example/timebase/internal/page"
)

// Has this guest been migrated, or restored from a snapshot, since its lines were drawn? Where the
// kernel's clock is made of the same counter, a stop of both is seen by nobody inside. The
// hypervisor's page, /dev/vmclock0, has numbers that change (src/clock/attach/witness.h).
const witnessDevice = "/dev/vmclock0"

// Of Linux' vmclock-abi.h: offsets, all little-endian.
const (
	vmMagicAt      = 0x00
	vmSizeAt       = 0x04
	vmVersionAt    = 0x08
	vmSeqAt        = 0x0c
	vmMarkerAt     = 0x10
	vmFlagsAt      = 0x18
	vmStatusAt     = 0x22
	vmGenerationAt = 0x68

	vmMagic             = 0x4b4c4356
	vmVersion           = 1
	vmUnreliable        = 4
	vmGenerationPresent = 1 << 8
	vmPageSize          = 4096
)

// witnessMark is what the page said.
type witnessMark struct {
	isKnown    bool   // else nothing is said, or an update does not end
	marker     uint64 // another after a migration
	generation uint64 // another after a restore; 0 where the page has none
	status     uint8
}

// witness is the hypervisor's page, mapped for reading; empty: none.
type witness []byte

func openWitness(device string) witness {
	fd, err := openAt(-100, device, syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY|syscall.O_NOFOLLOW)
	if err != nil {
		return nil
	}
	defer syscall.Close(fd)
	// A regular file could be cut short under the mapping, and its owner be anybody.
	var s syscall.Stat_t
	if syscall.Fstat(fd, &s) != nil || s.Mode&syscall.S_IFMT != syscall.S_IFCHR || s.Uid != root {
		return nil
	}
	b, err := syscall.Mmap(fd, 0, vmPageSize, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil
	}
	if w := witness(b); w.isVMClock() {
		return w
	}
	syscall.Munmap(b)
	return nil
}

func (w witness) close() {
	if w != nil {
		syscall.Munmap(w) // fails for a page that a test has made
	}
}

func (w witness) word(at int) uint32 {
	value := atomic.LoadUint32((*uint32)(unsafe.Pointer(&w[at])))
	if page.IsBig {
		return bits.ReverseBytes32(value)
	}
	return value
}

// In halves, for processors without atomics of 64 bits; seq says whether they belong together.
func (w witness) long(at int) uint64 { return uint64(w.word(at+4))<<32 | uint64(w.word(at)) }

func (w witness) isVMClock() bool {
	return w.word(vmMagicAt) == vmMagic && w.word(vmSizeAt) >= vmGenerationAt &&
		w.word(vmVersionAt)&0xffff == vmVersion
}

func (w witness) copy() witnessMark {
	m := witnessMark{isKnown: true, marker: w.long(vmMarkerAt), status: uint8(w.word(vmStatusAt&^3) >> 16)}
	if w.word(vmSizeAt) >= vmGenerationAt+8 && w.word(vmFlagsAt)&vmGenerationPresent != 0 {
		m.generation = w.long(vmGenerationAt)
	}
	return m
}

// read never waits: a few attempts. The hypervisor makes seq odd, writes, and makes it even again.
func (w witness) read() witnessMark {
	if w == nil {
		return witnessMark{}
	}
	for i := 0; i < copyAttempts; i++ {
		seq := w.word(vmSeqAt)
		m := w.copy()
		if seq&1 == 0 && w.word(vmSeqAt) == seq {
			return m
		}
	}
	return witnessMark{}
}

// hasMoved: the counter was disrupted since `then`.
func (now witnessMark) hasMoved(then witnessMark) bool {
	return then.isKnown && now.isKnown && (now.marker != then.marker || now.generation != then.generation)
}

// isDoubted: the hypervisor calls its own clock unreliable; or the page, which was known then and is not
// now, is being written, and its marker may be changing.
func (now witnessMark) isDoubted(then witnessMark) bool {
	return then.isKnown && (!now.isKnown || now.status == vmUnreliable)
}

// word is what the daemon stores for the mark in its page, where 0 is for "not told" (C's
// counter_marker()).
func (m witnessMark) word() uint64 {
	if word := m.marker + m.generation*0x9e3779b97f4a7c15 + 1; word != 0 {
		return word
	}
	return 1
}

// moved: a guest that was stopped, migrated or restored has lines of another stretch of time, until
// its daemon has seen that, too.
type moved struct {
	witness   witness
	mark      witnessMark // of the newest look that could be read
	isDoubted bool        // since that look
	isMoved   bool        // and the lines do not account for it
	accounted uint64      // the vmclock marker of the page that was copied last
	marker    uint64      // the disruption marker of this page
	hasBase   bool        // the page in force at the look that saw the newest move is known:
	base      uint64      // its disruption marker
	pages     int         // copied since the move, up to those that are enough
}

// Of a daemon that does not read the hypervisor's page, 5 s at its usual pace: lines drawn since then.
const movedPagesMin = 20

func (m *moved) open(device string) {
	m.witness = openWitness(device)
	m.mark = m.witness.read()
}

// close: there is no witness from now on, so none that was known and is not.
func (m *moved) close() {
	m.witness.close()
	m.witness, m.mark = nil, witnessMark{}
}

// look comes before the daemon's page is looked at.
func (m *moved) look() {
	now := m.witness.read()
	hasMoved := now.hasMoved(m.mark)
	m.isDoubted = !hasMoved && now.isDoubted(m.mark)
	if hasMoved {
		m.isMoved, m.hasBase, m.pages = true, false, 0
	}
	if now.isKnown {
		m.mark = now
	}
}

// compare goes by the page's own word. False: it tells nothing, or this reader has seen nothing to
// compare.
func (m *moved) compare() bool {
	if m.accounted == 0 || !m.mark.isKnown {
		return false
	}
	isOther := m.accounted != m.mark.word()
	if isOther && !m.isMoved {
		m.pages = 0
	}
	m.isMoved = isOther
	m.hasBase, m.base = true, m.marker // for a page that tells nothing, if one comes
	return true
}

// noteSame: the look has found the page that was copied last.
func (m *moved) noteSame() {
	if !m.compare() && !m.hasBase {
		m.hasBase, m.base = true, m.marker
	}
}

// notePage: a page that tells what its lines account for is believed. One that tells nothing is heard
// when it publishes a disruption after the look that saw the move. What this look found in the file, or
// what was published while it could not be read, may be an older disruption.
func (m *moved) notePage(disruption, vmclock uint64) {
	m.marker, m.accounted = disruption, vmclock
	if m.pages < movedPagesMin {
		m.pages++
	}
	switch {
	case m.compare():
	case !m.hasBase:
		m.hasBase, m.base = true, disruption
	case disruption != m.base:
		m.isMoved = false
	}
}

// status is what is left of that of a line. After a while a daemon that says nothing of the move keeps
// the kernel's clock again; but that may have stood still, and UTC with it.
func (m *moved) status(of uint32) uint32 {
	switch {
	case of == line.Unknown:
		return of
	case m.isDoubted, m.isMoved && m.pages < movedPagesMin:
		return line.Unreliable
	case m.isMoved && of == line.Synchronized:
		return line.Freerunning
	}
	return of
}
