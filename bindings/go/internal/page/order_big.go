// SPDX-License-Identifier: MIT

//go:build mips || mips64 || ppc64 || s390x

package page

import "encoding/binary"

// Native is the byte order of this machine, and so of its pages.
var Native binary.ByteOrder = binary.BigEndian

// IsBig says the same as a constant.
const IsBig = true

// halves are the two fields of 32 bits in a word, the one at the lower address first.
func halves(word uint64) (first, second uint32) { return uint32(word >> 32), uint32(word) }

func whole(first, second uint32) uint64 { return uint64(first)<<32 | uint64(second) }
