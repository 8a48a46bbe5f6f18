// SPDX-License-Identifier: MIT

//go:build (ppc64 || ppc64le) && !purego

package counter

const processor = PowerTB
