/* SPDX-License-Identifier: MIT */
/* HPET, ACPI timer and battery clock on files in their places; tables and torn reads. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <endian.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "measure/device.h"

#define HPET_FS 69841279 /* 14.318180 MHz, as nearly all have it */

static void torn_readings_are_not_believed(void **state)
{
    uint64_t middle;
    (void)state;
    assert_int_equal(device_middle((uint64_t[]){10, 11, 12}, 24, &middle), TIMEBASE_OK);
    assert_true(middle == 11);
    assert_int_equal(device_middle((uint64_t[]){0xfffffe, 0xffffff, 1}, 24, &middle), TIMEBASE_OK);
    assert_true(middle == 0xffffff);
    assert_int_equal(device_middle((uint64_t[]){7, 7, 7}, 24, &middle), TIMEBASE_OK);
    /* the first, the second, the third was read while a carry ran through */
    assert_int_equal(device_middle((uint64_t[]){0x1ff, 0x101, 0x102}, 24, &middle), TIMEBASE_E_TORN);
    assert_int_equal(device_middle((uint64_t[]){0x0fe, 0x1ff, 0x101}, 24, &middle), TIMEBASE_E_TORN);
    assert_int_equal(device_middle((uint64_t[]){0x0fd, 0x0fe, 0x1ff}, 24, &middle), TIMEBASE_E_TORN);
    /* rising, but somebody was held up in between, and who knows of what */
    assert_int_equal(device_middle((uint64_t[]){0, 100, 200}, 24, &middle), TIMEBASE_E_TORN);
}

/* ---- the table ----------------------------------------------------------------------------- */

static unsigned char table[276];

static void put(size_t at, unsigned width, uint64_t value)
{
    for (unsigned i = 0; i < width; i++)
        table[at + i] = (unsigned char)(value >> 8 * i);
}

static void seal(size_t length)
{
    unsigned char sum = 0;
    put(4, 4, length);
    table[9] = 0;
    for (size_t i = 0; i < length; i++)
        sum = (unsigned char)(sum + table[i]);
    table[9] = (unsigned char)-sum;
}

static void fill_table(void)
{
    memset(table, 0, sizeof(table));
    memcpy(table, "FACP", 4);
    put(76, 4, 0x608);
    put(91, 1, 4);
    seal(sizeof(table));
}

static int parse(size_t length, uint64_t *port, unsigned *width)
{
    return device_parse_fadt(table, length, port, width);
}

static void the_table_names_port_and_width(void **state)
{
    uint64_t port;
    unsigned width;
    (void)state;
    fill_table();
    assert_int_equal(parse(sizeof(table), &port, &width), TIMEBASE_OK);
    assert_int_equal(port, 0x608);
    assert_int_equal(width, 24);
    put(112, 4, 1 << 8);
    put(208, 1, 1);
    put(212, 8, 0x408);
    seal(sizeof(table));
    assert_int_equal(parse(sizeof(table), &port, &width), TIMEBASE_OK);
    assert_int_equal(port, 0x408);
    assert_int_equal(width, 32);
    /* an old table, without the newer field */
    fill_table();
    seal(116);
    assert_int_equal(parse(116, &port, &width), TIMEBASE_OK);
    assert_int_equal(port, 0x608);
}

static void tables_that_are_not_whole_are_refused(void **state)
{
    uint64_t port;
    unsigned width;
    (void)state;
    fill_table();
    for (size_t length = 0; length < sizeof(table); length++)
        assert_int_equal(parse(length, &port, &width), TIMEBASE_E_FORMAT);
    table[50]++;
    assert_int_equal(parse(sizeof(table), &port, &width), TIMEBASE_E_FORMAT);
    fill_table();
    table[0] = 'X';
    seal(sizeof(table));
    assert_int_equal(parse(sizeof(table), &port, &width), TIMEBASE_E_FORMAT);
    fill_table();
    seal(100);
    assert_int_equal(parse(100, &port, &width), TIMEBASE_E_FORMAT);
}

static void machines_without_the_timer_are_told_so(void **state)
{
    uint64_t port;
    unsigned width;
    (void)state;
    fill_table();
    put(91, 1, 0);
    seal(sizeof(table));
    assert_int_equal(parse(sizeof(table), &port, &width), TIMEBASE_E_UNSUPPORTED);
    fill_table();
    put(76, 4, 0);
    seal(sizeof(table));
    assert_int_equal(parse(sizeof(table), &port, &width), TIMEBASE_E_UNSUPPORTED);
    fill_table();
    put(112, 4, 1 << 20); /* hardware-reduced ACPI */
    seal(sizeof(table));
    assert_int_equal(parse(sizeof(table), &port, &width), TIMEBASE_E_UNSUPPORTED);
    fill_table();
    put(208, 1, 0); /* in memory */
    put(212, 8, 0x408);
    seal(sizeof(table));
    assert_int_equal(parse(sizeof(table), &port, &width), TIMEBASE_E_UNSUPPORTED);
    put(208, 1, 1);
    put(212, 8, 0x10408); /* beyond the ports */
    seal(sizeof(table));
    assert_int_equal(parse(sizeof(table), &port, &width), TIMEBASE_E_UNSUPPORTED);
}

/* ---- on files ------------------------------------------------------------------------------ */

static char table_path[] = "/tmp/timebase-fadt-XXXXXX";
static char device_path[] = "/tmp/timebase-timer-XXXXXX";
static unsigned char *device;

static int make_files(void **state)
{
    int one = mkstemp(table_path), two = mkstemp(device_path);
    (void)state;
    if (one < 0 || two < 0 || ftruncate(two, 4096) != 0)
        return -1;
    device = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, two, 0);
    close(one);
    close(two);
    return device == MAP_FAILED ? -1 : 0;
}

static int remove_files(void **state)
{
    (void)state;
    munmap(device, 4096);
    return unlink(table_path) | unlink(device_path);
}

static void write_table(void)
{
    int fd = open(table_path, O_WRONLY | O_TRUNC);
    assert_int_equal(write(fd, table, sizeof(table)), sizeof(table));
    close(fd);
}

static void set_word(size_t at, uint64_t value)
{
    __atomic_store_n((uint32_t *)(void *)(device + at), htole32((uint32_t)value), __ATOMIC_RELAXED);
    __atomic_store_n((uint32_t *)(void *)(device + at + 4), htole32((uint32_t)(value >> 32)),
                     __ATOMIC_RELAXED);
}

static void make_hpet(uint64_t capabilities, unsigned enabled)
{
    memset(device, 0, 4096);
    set_word(0, capabilities);
    set_word(0x10, enabled);
}

static uint64_t read_once(struct device *timer)
{
    uint64_t raw = 0;
    assert_int_equal(timer->read(timer, &raw), TIMEBASE_OK);
    return raw;
}

static void an_hpet_shows_the_lower_half_of_its_counter(void **state)
{
    struct device timer;
    (void)state;
    make_hpet((uint64_t)HPET_FS << 32 | 1 << 13, 1);
    assert_int_equal(device_open_hpet(&timer, device_path), TIMEBASE_OK);
    assert_true(timer.hz > 14318179 && timer.hz < 14318181);
    assert_int_equal(timer.width, 32);
    set_word(0xf0, 0x123456789abcdef0);
    assert_int_equal(read_once(&timer), 0x9abcdef0);
    set_word(0xf0, 0x1234567900000001);
    assert_int_equal(read_once(&timer), 1);
    device_close(&timer);
    assert_true(timer.registers == NULL && timer.fd == -1);
}

static void an_acpi_timer_is_read_by_bytes_of_its_port(void **state)
{
    struct device timer;
    (void)state;
    fill_table();
    write_table();
    assert_int_equal(device_open_acpi_pm(&timer, table_path, device_path), TIMEBASE_OK);
    assert_true(timer.hz == 3579545);
    assert_int_equal(timer.width, 24);
    set_word(0x608, 0xff123456); /* the upper byte is not the timer's */
    assert_int_equal(read_once(&timer), 0x123456);
    device_close(&timer);
    assert_int_equal(timer.fd, -1);
}

static void a_battery_clock_is_read_as_text(void **state)
{
    struct device timer;
    uint64_t raw;
    (void)state;
    memcpy(device, "1795274325\n", 12);
    assert_int_equal(device_open_rtc(&timer, device_path), TIMEBASE_OK);
    assert_true(timer.hz == 1);
    assert_int_equal(read_once(&timer), 1795274325);
    memcpy(device, "never", 6);
    assert_int_equal(timer.read(&timer, &raw), TIMEBASE_E_FORMAT);
    device_close(&timer);
    assert_int_equal(device_open_rtc(&timer, "/nowhere/since_epoch"), TIMEBASE_E_NOT_FOUND);
    assert_non_null(strstr(timer.reason, "no battery clock"));
}

static void the_kernel_s_raw_clock_is_always_there(void **state)
{
    struct device timer;
    (void)state;
    assert_int_equal(device_open_kernel(&timer), TIMEBASE_OK);
    uint64_t first = read_once(&timer);
    assert_true(read_once(&timer) >= first);
    device_close(&timer);
}

static void what_is_no_hpet_is_refused(void **state)
{
    struct device timer;
    (void)state;
    make_hpet(0, 1);
    assert_int_equal(device_open_hpet(&timer, device_path), TIMEBASE_E_FORMAT);
    make_hpet((uint64_t)100000001 << 32, 1);
    assert_int_equal(device_open_hpet(&timer, device_path), TIMEBASE_E_FORMAT);
    make_hpet((uint64_t)HPET_FS << 32, 0);
    assert_int_equal(device_open_hpet(&timer, device_path), TIMEBASE_E_REFERENCE);
    assert_non_null(strstr(timer.reason, "switched off"));
    fill_table();
    write_table(); /* too short for a page of registers: would be SIGBUS */
    assert_int_equal(device_open_hpet(&timer, table_path), TIMEBASE_E_FORMAT);
    assert_int_equal(device_open_hpet(&timer, "/nowhere/hpet"), TIMEBASE_E_NOT_FOUND);
    assert_non_null(strstr(timer.reason, "no HPET"));
}

static void what_is_no_acpi_timer_is_refused(void **state)
{
    struct device timer;
    uint64_t raw;
    (void)state;
    fill_table();
    write_table();
    assert_int_equal(device_open_acpi_pm(&timer, device_path, device_path), TIMEBASE_E_FORMAT);
    assert_int_equal(device_open_acpi_pm(&timer, "/nowhere", device_path), TIMEBASE_E_NOT_FOUND);
    assert_int_equal(device_open_acpi_pm(&timer, table_path, "/nowhere"), TIMEBASE_E_NOT_FOUND);
    assert_non_null(strstr(timer.reason, "/dev/port"));
    assert_int_equal(timer.fd, -1);
    assert_int_equal(device_open_acpi_pm(&timer, table_path, table_path), TIMEBASE_OK);
    assert_int_equal(timer.read(&timer, &raw), TIMEBASE_E_REFERENCE); /* it ends before the port */
    assert_non_null(strstr(timer.reason, "cannot be read"));
    device_close(&timer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(torn_readings_are_not_believed),
        cmocka_unit_test(the_table_names_port_and_width),
        cmocka_unit_test(tables_that_are_not_whole_are_refused),
        cmocka_unit_test(machines_without_the_timer_are_told_so),
        cmocka_unit_test(an_hpet_shows_the_lower_half_of_its_counter),
        cmocka_unit_test(an_acpi_timer_is_read_by_bytes_of_its_port),
        cmocka_unit_test(a_battery_clock_is_read_as_text),
        cmocka_unit_test(the_kernel_s_raw_clock_is_always_there),
        cmocka_unit_test(what_is_no_hpet_is_refused),
        cmocka_unit_test(what_is_no_acpi_timer_is_refused),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
