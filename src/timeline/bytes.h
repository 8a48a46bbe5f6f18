/* SPDX-License-Identifier: MIT */
/* bytes: little-endian numbers of up to eight bytes, on any machine. */
#ifndef TIMELINE_BYTES_H
#define TIMELINE_BYTES_H

#include <stddef.h>
#include <stdint.h>

static inline void bytes_put(uint8_t *at, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

static inline uint64_t bytes_get(const uint8_t *at, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

static inline uint32_t bytes_get32(const uint8_t *at)
{
    return (uint32_t)bytes_get(at, 4);
}

static inline uint64_t bytes_get64(const uint8_t *at)
{
    return bytes_get(at, 8);
}

#endif
