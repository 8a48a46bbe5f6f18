// SPDX-License-Identifier: MIT

//go:build linux && (!(amd64 || arm64) || purego)

package counter

// The counters of the other processors are part of the user-mode architecture.
func isReadable() bool { return true }
