/* SPDX-License-Identifier: MIT */
/* ports: the I/O ports of a PC. */
#ifndef BOARD_PORTS_H
#define BOARD_PORTS_H

#include <stdint.h>

static inline void port_write(uint16_t port, uint8_t value)
{
    __asm__ __volatile__("outb %0, %1" : : "a"(value), "Nd"(port) : "memory");
}

static inline uint8_t port_read(uint16_t port)
{
    uint8_t value;
    __asm__ __volatile__("inb %1, %0" : "=a"(value) : "Nd"(port) : "memory");
    return value;
}

static inline uint32_t port_read_32(uint16_t port)
{
    uint32_t value;
    __asm__ __volatile__("inl %1, %0" : "=a"(value) : "Nd"(port) : "memory");
    return value;
}

/* The port that BIOSes write their progress to: nothing answers, and it takes about 1 us. */
#define PORT_NOBODY 0x80

#endif
