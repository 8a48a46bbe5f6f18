/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* For the library's files: the kernel has no <stdint.h>, and these types under its own names. */
#include <linux/limits.h>
#include <linux/types.h>

#define INT64_MIN S64_MIN
#define INT64_MAX S64_MAX
#define UINT64_MAX U64_MAX
