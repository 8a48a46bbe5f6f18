// SPDX-License-Identifier: MIT

//go:build (amd64 || arm64 || ppc64 || ppc64le || riscv64 || s390x) && !purego

package counter

const hasCounter = true

func ticks() uint64
func ordered() uint64
func begin() uint64
func end() uint64
