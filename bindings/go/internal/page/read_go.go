// SPDX-License-Identifier: MIT

//go:build !(amd64 || arm64 || ppc64 || ppc64le || riscv64 || s390x) || purego || race

package page

import "timebase.example/timebase/internal/counter"

// HasAssembler tells which Read this is: the assembler's, or the one in Go. The race detector sees
// only what is written in Go.
const HasAssembler = false

// Read reads the counter, after all earlier loads, and converts it. False when the page has no line
// for now, or a publication fell between the two looks at its number.
func Read(p *Page) (mono, utc int64, ok bool) { return p.ReadAny() }

// ReadUnordered is Read, with a reading of the counter that may move among other instructions.
func ReadUnordered(p *Page) (mono, utc int64, ok bool) { return p.readWhole(counter.Ticks) }
