/* SPDX-License-Identifier: MIT */
/* Intel 8254, and port 0x61 with the gate of its channel 2. */
#include "device.h"
#include "ports.h"

enum {
    CHANNEL_2 = 0x42,
    CONTROL = 0x43,
    GATE_PORT = 0x61,
    GATE = 1,
    SPEAKER = 2,
    RATE_GENERATOR = 0xb4, /* channel 2, low then high byte, mode 2 */
    LATCH = 0x80,
};

/* It counts down from 65536, by one. */
static uint64_t read(void)
{
    port_write(CONTROL, LATCH);
    unsigned low = port_read(CHANNEL_2), high = port_read(CHANNEL_2);
    return 0xffff - (high << 8 | low);
}

/* A clock that stands still, or a port that nothing answers at, is none. */
static bool is_running(void)
{
    uint64_t first = read();
    for (int i = 0; i < 1000; i++)
        if (read() != first)
            return true;
    return false;
}

/* 105/88 MHz, a third of a colour carrier. */
struct device pit_begin(void)
{
    struct device pit = {"pit", read, 0xffff, 838095238};
    port_write(GATE_PORT, (uint8_t)((port_read(GATE_PORT) & ~SPEAKER) | GATE));
    port_write(CONTROL, RATE_GENERATOR);
    port_write(CHANNEL_2, 0);
    port_write(CHANNEL_2, 0);
    if (!is_running())
        pit.period_fs = 0;
    return pit;
}
