/* SPDX-License-Identifier: MIT */
/*
 * acpi_pm: the power management timer of ACPI, 3.579545 MHz, behind an input/output port. Its place
 * is in the FADT (ACPI 6.5, 4.8.3.3 and 5.2.9); it is read through /dev/port, which is for root.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <timebase/error.h>

#include "timer.h"

#define FREQUENCY_HZ 3579545
#define SEC_NS 1000000000

/* Offsets in the table. */
enum { LENGTH = 4, PM_TIMER_BLOCK = 76, PM_TIMER_LENGTH = 91, FLAGS = 112, X_PM_TIMER_BLOCK = 208 };
/* Flags. */
#define TIMER_IS_32_BIT (1u << 8)
#define HARDWARE_REDUCED (1u << 20)
enum { HEADER_SIZE = 36, ADDRESS_SIZE = 12, SPACE_IS_PORT = 1, PORT_MAX = 0xfffc };
enum { TABLE_SIZE = 512, READ_ATTEMPTS = 10 };

static int fail(struct timer *timer, int error, const char *reason)
{
    timer->reason = reason;
    return error;
}

static uint64_t get(const unsigned char *bytes, unsigned width)
{
    uint64_t value = 0;
    while (width-- > 0)
        value = value << 8 | bytes[width];
    return value;
}

static bool is_whole(const unsigned char *table, size_t length)
{
    unsigned char sum = 0;
    if (length < FLAGS + 4 || memcmp(table, "FACP", 4) != 0 || get(table + LENGTH, 4) != length)
        return false;
    for (size_t i = 0; i < length; i++)
        sum = (unsigned char)(sum + table[i]);
    return sum == 0;
}

/* The newer field counts where it is filled in; it may say that the timer is in memory. */
int timer_parse_fadt(const unsigned char *table, size_t length, uint64_t *port, unsigned *width)
{
    if (!is_whole(table, length))
        return TIMEBASE_E_FORMAT;
    uint64_t flags = get(table + FLAGS, 4), space = SPACE_IS_PORT;
    *port = get(table + PM_TIMER_BLOCK, 4);
    *width = flags & TIMER_IS_32_BIT ? 32 : 24;
    if (length >= X_PM_TIMER_BLOCK + ADDRESS_SIZE && get(table + X_PM_TIMER_BLOCK + 4, 8) != 0) {
        space = table[X_PM_TIMER_BLOCK];
        *port = get(table + X_PM_TIMER_BLOCK + 4, 8);
    } else if (table[PM_TIMER_LENGTH] != 4) {
        return TIMEBASE_E_UNSUPPORTED;
    }
    if ((flags & HARDWARE_REDUCED) || space != SPACE_IS_PORT || *port == 0 || *port > PORT_MAX)
        return TIMEBASE_E_UNSUPPORTED;
    return TIMEBASE_OK;
}

static int read_once(const struct timer *timer, uint64_t *raw)
{
    unsigned char bytes[4];
    if (pread(timer->fd, bytes, sizeof(bytes), (off_t)timer->port) != sizeof(bytes))
        return TIMEBASE_E_REFERENCE;
    *raw = get(bytes, timer->width / 8);
    return TIMEBASE_OK;
}

/* Some chips do not latch the timer for a read, and /dev/port reads byte by byte: so three times.
 */
static int read_acpi_pm(struct timer *timer, uint64_t *raw)
{
    for (int i = 0; i < READ_ATTEMPTS; i++) {
        uint64_t three[3];
        for (int j = 0; j < 3; j++)
            if (read_once(timer, &three[j]) != TIMEBASE_OK)
                return fail(timer, TIMEBASE_E_REFERENCE,
                            "the port of the ACPI timer cannot be read");
        if (timer_middle(three, timer->width, raw) == TIMEBASE_OK)
            return TIMEBASE_OK;
    }
    return fail(timer, TIMEBASE_E_REFERENCE, "the ACPI timer's readings contradict each other");
}

static int open_or_say(struct timer *timer, const char *path, const char *absent,
                       const char *refused)
{
    timer->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (timer->fd < 0 && (errno == EACCES || errno == EPERM))
        return fail(timer, TIMEBASE_E_PERMISSION, refused);
    return timer->fd < 0 ? fail(timer, TIMEBASE_E_REFERENCE, absent) : TIMEBASE_OK;
}

static int find_port(struct timer *timer, const char *path)
{
    unsigned char table[TABLE_SIZE];
    int error = open_or_say(timer, path, "there is no ACPI table that names a timer",
                            "the ACPI tables may not be read");
    if (error != TIMEBASE_OK)
        return error;
    ssize_t length = read(timer->fd, table, sizeof(table));
    close(timer->fd);
    timer->fd = -1;
    error = timer_parse_fadt(table, length > 0 ? (size_t)length : 0, &timer->port, &timer->width);
    if (error == TIMEBASE_E_FORMAT)
        return fail(timer, error, "the file is not a whole FADT");
    return error != TIMEBASE_OK ? fail(timer, error, "this machine has no ACPI timer") : error;
}

int timer_open_acpi_pm(struct timer *timer, const char *table, const char *ports)
{
    *timer = (struct timer){
        .read = read_acpi_pm, .fd = -1, .numerator = SEC_NS, .denominator = FREQUENCY_HZ};
    int error = find_port(timer, table != NULL ? table : "/sys/firmware/acpi/tables/FACP");
    if (error == TIMEBASE_OK)
        error = open_or_say(timer, ports != NULL ? ports : "/dev/port",
                            "there is no /dev/port to read the ACPI timer by",
                            "/dev/port may not be opened");
    if (error == TIMEBASE_OK)
        error = timer_begin(timer);
    if (error != TIMEBASE_OK)
        timer_close(timer);
    return error;
}
