/* SPDX-License-Identifier: MIT */
/*
 * device_acpi_pm: the power management timer of ACPI, 3.579545 MHz, behind an input/output port.
 * Its place is in the FADT (ACPI 6.5, 4.8.3.3 and 5.2.9). It is read by one instruction, where the
 * kernel allows it (ioperm), else through /dev/port; both are for root.
 */
#include <string.h>
#include <unistd.h>

#include "device.h"

#if defined(__x86_64__) || defined(__i386__)
#include <sys/io.h>
#define HAVE_PORTS 1
#endif

#define FREQUENCY_HZ 3579545

/* Offsets in the table. */
enum { LENGTH = 4, PM_TIMER_BLOCK = 76, PM_TIMER_LENGTH = 91, FLAGS = 112, X_PM_TIMER_BLOCK = 208 };
/* Flags. */
#define TIMER_IS_32_BIT (1u << 8)
#define HARDWARE_REDUCED (1u << 20)
enum { HEADER_SIZE = 36, ADDRESS_SIZE = 12, SPACE_IS_PORT = 1, PORT_MAX = 0xfffc };
enum { TABLE_SIZE = 512, READ_ATTEMPTS = 10 };

static uint64_t get(const unsigned char *bytes, unsigned width)
{
    uint64_t value = 0;
    while (width-- > 0)
        value = value << 8 | bytes[width];
    return value;
}

static int is_whole(const unsigned char *table, size_t length)
{
    unsigned char sum = 0;
    if (length < FLAGS + 4 || memcmp(table, "FACP", 4) != 0 || get(table + LENGTH, 4) != length)
        return 0;
    for (size_t i = 0; i < length; i++)
        sum = (unsigned char)(sum + table[i]);
    return sum == 0;
}

/* The newer field counts where it is filled in; it may say that the timer is in memory. */
int device_parse_fadt(const unsigned char *table, size_t length, uint64_t *port, unsigned *width)
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

/* ---- by an instruction --------------------------------------------------------------------- */

#ifdef HAVE_PORTS
/* All bits at once, as the kernel reads it. */
static int read_port(struct device *device, uint64_t *raw)
{
    *raw = inl((unsigned short)device->port) & device_mask(device->width);
    return TIMEBASE_OK;
}

static void give_port_back(struct device *device)
{
    ioperm(device->port, 4, 0);
}

/* For this thread. */
static int take_port(struct device *device)
{
    if (ioperm(device->port, 4, 1) != 0)
        return 0;
    device->read = read_port;
    device->release = give_port_back;
    return 1;
}
#else
static int take_port(struct device *device)
{
    (void)device;
    return 0;
}
#endif

/* ---- through /dev/port --------------------------------------------------------------------- */

static int read_bytes(const struct device *device, uint64_t *raw)
{
    unsigned char bytes[4];
    if (pread(device->fd, bytes, sizeof(bytes), (off_t)device->port) != sizeof(bytes))
        return TIMEBASE_E_REFERENCE;
    *raw = get(bytes, device->width / 8);
    return TIMEBASE_OK;
}

/* Byte by byte, while the timer goes on: three times, and what does not rise is not believed. */
static int read_file(struct device *device, uint64_t *raw)
{
    for (int i = 0; i < READ_ATTEMPTS; i++) {
        uint64_t three[3];
        for (int j = 0; j < 3; j++)
            if (read_bytes(device, &three[j]) != TIMEBASE_OK)
                return device_fail(device, TIMEBASE_E_REFERENCE,
                                   "the port of the ACPI timer cannot be read");
        if (device_middle(three, device->width, raw) == TIMEBASE_OK)
            return TIMEBASE_OK;
    }
    return device_fail(device, TIMEBASE_E_REFERENCE,
                       "the ACPI timer's readings contradict each other");
}

/* ---- where it is --------------------------------------------------------------------------- */

static int find_port(struct device *device, const char *path)
{
    unsigned char table[TABLE_SIZE];
    int error = device_open_file(device, path, "there is no ACPI table that names a timer",
                                 "the ACPI tables may not be read");
    if (error != TIMEBASE_OK)
        return error;
    ssize_t length = read(device->fd, table, sizeof(table));
    close(device->fd);
    device->fd = -1;
    error = device_parse_fadt(table, length > 0 ? (size_t)length : 0, &device->port, &device->width);
    if (error == TIMEBASE_E_FORMAT)
        return device_fail(device, error, "the ACPI table that names a timer is not whole");
    if (error != TIMEBASE_OK)
        return device_fail(device, error, "this machine has no ACPI timer");
    return TIMEBASE_OK;
}

int device_open_acpi_pm(struct device *device, const char *table, const char *ports)
{
    *device = (struct device){.read = read_file, .fd = -1, .hz = FREQUENCY_HZ};
    int error = find_port(device, table != NULL ? table : "/sys/firmware/acpi/tables/FACP");
    if (error == TIMEBASE_OK && (ports != NULL || !take_port(device)))
        error = device_open_file(device, ports != NULL ? ports : "/dev/port",
                                 "there is no /dev/port to read the ACPI timer by",
                                 "neither ioperm() nor /dev/port is allowed");
    if (error != TIMEBASE_OK)
        device_close(device);
    return error;
}
