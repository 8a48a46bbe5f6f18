/* SPDX-License-Identifier: MIT */
/* The registers of the 16550, by their offsets (National Semiconductor, PC16550D). */
#include "serial.h"

#include "ports.h"

enum {
    COM1 = 0x3f8,
    DATA = 0,       /* with DIVISOR_ACCESS: the divisor's low byte */
    INTERRUPTS = 1, /* with DIVISOR_ACCESS: its high byte */
    FIFO = 2,
    LINE_CONTROL = 3,
    MODEM_CONTROL = 4,
    LINE_STATUS = 5,
    DIVISOR_ACCESS = 0x80,
    EIGHT_BITS = 3,
    LOOP_BACK = 0x10,
    READY_OUTPUTS = 3, /* DTR and RTS */
    HAS_DATA = 1,
    HAS_ROOM = 0x20,
    PATIENCE = 100000, /* reads of a register, each about a microsecond; a byte takes 87 */
};

static bool is_there;

static bool await_status(uint8_t bit)
{
    for (int i = 0; i < PATIENCE; i++)
        if (port_read(COM1 + LINE_STATUS) & bit)
            return true;
    return false;
}

static bool comes_back(uint8_t byte)
{
    port_write(COM1 + DATA, byte);
    return await_status(HAS_DATA) && port_read(COM1 + DATA) == byte;
}

bool serial_begin(void)
{
    port_write(COM1 + INTERRUPTS, 0);
    port_write(COM1 + LINE_CONTROL, DIVISOR_ACCESS);
    port_write(COM1 + DATA, 1); /* 115,200 baud */
    port_write(COM1 + INTERRUPTS, 0);
    port_write(COM1 + LINE_CONTROL, EIGHT_BITS);
    port_write(COM1 + FIFO, 0x07); /* on, and emptied */
    port_write(COM1 + MODEM_CONTROL, LOOP_BACK | READY_OUTPUTS);
    is_there = port_read(COM1 + LINE_CONTROL) == EIGHT_BITS && comes_back(0x55) && comes_back(0xaa);
    port_write(COM1 + MODEM_CONTROL, READY_OUTPUTS);
    return is_there;
}

void serial_put(char byte)
{
    if (is_there && await_status(HAS_ROOM))
        port_write(COM1 + DATA, (uint8_t)byte);
}
