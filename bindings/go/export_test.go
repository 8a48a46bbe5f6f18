// SPDX-License-Identifier: MIT

//go:build linux

package timebase

// PathOfExamples is the page that examples attach to.
func PathOfExamples() string { return inExamples }
