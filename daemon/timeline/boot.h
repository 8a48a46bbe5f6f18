/* SPDX-License-Identifier: MIT */
#ifndef TIMELINE_BOOT_H
#define TIMELINE_BOOT_H

#include <stdint.h>

/* This boot's id, as 16 bytes in the order of its text. 0 or TIMEBASE_E_UNSUPPORTED. */
int boot_id(uint8_t id[16]);

#endif
