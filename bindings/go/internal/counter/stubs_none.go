// SPDX-License-Identifier: MIT

//go:build !(amd64 || arm64 || ppc64 || ppc64le || riscv64 || s390x) || purego

package counter

const (
	hasCounter = false
	processor  = OS
)

func ticks() uint64   { return OSTicks() }
func ordered() uint64 { return OSTicks() }
func begin() uint64   { return OSTicks() }
func end() uint64     { return OSTicks() }
