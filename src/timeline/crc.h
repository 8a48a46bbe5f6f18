/* SPDX-License-Identifier: MIT */
/*
 * crc: CRC-32C (Castagnoli), as iSCSI, ext4 and SCTP have it: polynomial 0x1edc6f41, reflected
 * (0x82f63b78), begun with all ones and inverted at the end. "123456789" gives 0xe3069283.
 */
#ifndef TIMELINE_CRC_H
#define TIMELINE_CRC_H

#include <stddef.h>
#include <stdint.h>

uint32_t crc32c(const uint8_t *bytes, size_t size);

#endif
