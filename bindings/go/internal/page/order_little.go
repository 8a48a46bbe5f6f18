// SPDX-License-Identifier: MIT

//go:build 386 || amd64 || arm || arm64 || loong64 || mipsle || mips64le || ppc64le || riscv64 || wasm

package page

import "encoding/binary"

// Native is the byte order of this machine, and so of its pages.
var Native binary.ByteOrder = binary.LittleEndian

// IsBig says the same as a constant.
const IsBig = false

// halves are the two fields of 32 bits in a word, the one at the lower address first.
func halves(word uint64) (first, second uint32) { return uint32(word), uint32(word >> 32) }

func whole(first, second uint32) uint64 { return uint64(second)<<32 | uint64(first) }
