// SPDX-License-Identifier: MIT

//go:build (amd64 || arm64 || ppc64 || ppc64le || riscv64 || s390x) && !purego && !race

package page

// HasAssembler tells which Read this is: the assembler's, or the one in Go.
const HasAssembler = true

// The whole of a reading is one assembler function. It costs one call, as a stub that reads the
// counter alone would, and the payload is loaded relaxed: sync/atomic has no such loads, and on
// Power each of its loads is a SYNC.

// Read reads the counter, after all earlier loads, and converts it by `after`: all that a mirror's
// page shows. False when the tick is not on this line, or a publication fell between the two looks
// at the page's number: then ReadAny. The page is over a counter that this process may read.
//
//go:noescape
func Read(p *Page) (mono, utc int64, ok bool)

// ReadUnordered is Read, with a reading of the counter that may move among other instructions.
//
//go:noescape
func ReadUnordered(p *Page) (mono, utc int64, ok bool)
