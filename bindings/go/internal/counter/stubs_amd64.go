// SPDX-License-Identifier: MIT

//go:build !purego

package counter

const processor = X86TSC

// hasRDTSCP asks the processor (CPUID).
func hasRDTSCP() bool
