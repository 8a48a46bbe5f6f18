// SPDX-License-Identifier: MIT

//go:build !purego

package counter

const processor = ArmVCNT
