// SPDX-License-Identifier: MIT

//go:build !purego

package counter

func isReadable() bool { return hasRDTSCP() && !isSwitchedOff() }
