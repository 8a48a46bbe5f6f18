/* SPDX-License-Identifier: MIT */
/* HPET and ACPI timer: wraps, torn reads, tables; and files that a thread keeps counting in. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <endian.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <timebase/counter.h>
#include <timebase/error.h>

#include "dice.h"
#include "kernel_now.h"
#include "daemon/sources/timer.h"

#define CASES 20000
#define SEC_NS 1000000000
#define HPET_FS 69841279 /* 14.318180 MHz, as nearly all have it */
#define PM_HZ 3579545

static struct timer hpet_like(unsigned width)
{
    return (struct timer){.numerator = HPET_FS, .denominator = 1000000, .width = width, .fd = -1};
}

static struct timer pm_like(unsigned width)
{
    return (struct timer){.numerator = SEC_NS, .denominator = PM_HZ, .width = width, .fd = -1};
}

static void counts_become_nanoseconds_without_overflow(void **state)
{
    struct timer hpet = hpet_like(64), pm = pm_like(24);
    (void)state;
    assert_true(timer_ns(&pm, 0) == 0);
    assert_true(timer_ns(&pm, PM_HZ) == SEC_NS);
    assert_true(timer_ns(&pm, 1) == 279);
    assert_true(timer_ns(&pm, (uint64_t)PM_HZ * 86400 * 36500) == (uint64_t)86400 * 36500 * SEC_NS);
    assert_true(timer_ns(&hpet, 1000000) == HPET_FS);
    assert_true(timer_ns(&hpet, 14318180) == 1000000004); /* of a rounded period */
    assert_true(timer_ns(&hpet, (uint64_t)1000000 * 45000000000) ==
                (uint64_t)HPET_FS * 45000000000);
}

/* However many wraps passed, and though the kernel's clock is off by nearly half a wrap. */
static void every_wrap_is_counted(void **state)
{
    struct dice dice = dice_new();
    const unsigned widths[] = {24, 32};
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct timer timer = pm_like(widths[i & 1]);
        uint64_t wrap = (uint64_t)1 << timer.width;
        timer.count = dice_below(&dice, (uint64_t)1 << 50);
        timer.last_raw = dice_below(&dice, wrap);
        uint64_t advance = dice_below(&dice, 20 * wrap);
        int64_t off = (int64_t)dice_below(&dice, wrap * 9 / 10) - (int64_t)(wrap * 9 / 20);
        int64_t counted = (int64_t)advance + off;
        int64_t elapsed_ns = counted > 0 ? (int64_t)timer_ns(&timer, (uint64_t)counted) : -1;
        uint64_t raw = (timer.last_raw + advance) & (wrap - 1);
        assert_true(timer_extend(&timer, raw, elapsed_ns) == timer.count + advance);
    }
}

static void a_counter_of_64_bits_is_taken_as_it_is(void **state)
{
    struct timer timer = hpet_like(64);
    (void)state;
    timer.last_raw = UINT64_MAX - 4;
    timer.count = 10;
    assert_true(timer_extend(&timer, 5, 1000) == 20);
}

static void torn_readings_are_not_believed(void **state)
{
    uint64_t middle;
    (void)state;
    assert_int_equal(timer_middle((uint64_t[]){10, 11, 12}, 24, &middle), TIMEBASE_OK);
    assert_true(middle == 11);
    assert_int_equal(timer_middle((uint64_t[]){0xfffffe, 0xffffff, 1}, 24, &middle), TIMEBASE_OK);
    assert_true(middle == 0xffffff);
    assert_int_equal(timer_middle((uint64_t[]){7, 7, 7}, 24, &middle), TIMEBASE_OK);
    /* the first, the second, the third was read while a carry ran through */
    assert_int_equal(timer_middle((uint64_t[]){0x1ff, 0x101, 0x102}, 24, &middle), TIMEBASE_E_TORN);
    assert_int_equal(timer_middle((uint64_t[]){0x0fe, 0x1ff, 0x101}, 24, &middle), TIMEBASE_E_TORN);
    assert_int_equal(timer_middle((uint64_t[]){0x0fd, 0x0fe, 0x1ff}, 24, &middle), TIMEBASE_E_TORN);
    /* rising, but somebody was held up in between, and who knows of what */
    assert_int_equal(timer_middle((uint64_t[]){0, 100, 200}, 24, &middle), TIMEBASE_E_TORN);
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
    return timer_parse_fadt(table, length, port, width);
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

/* Counts as CLOCK_MONOTONIC goes, from a start that is about to wrap. */
static struct {
    bool is_running;
    size_t at;
    uint64_t start;
    int64_t start_ns;
    struct timer scale;
} counting;

static uint64_t count_now(void)
{
    uint64_t ns = (uint64_t)(kernel_now(CLOCK_MONOTONIC) - counting.start_ns);
    return counting.start + ns * 1000 / (uint64_t)timer_ns(&counting.scale, 1000);
}

static void show_count(void)
{
    uint64_t now = count_now();
    if (counting.scale.width == 64) /* the device carries into its upper half at once */
        __atomic_store_n((uint64_t *)(void *)(device + counting.at), htole64(now),
                         __ATOMIC_RELAXED);
    else
        __atomic_store_n((uint32_t *)(void *)(device + counting.at), htole32((uint32_t)now),
                         __ATOMIC_RELAXED);
}

static void *count_on(void *unused)
{
    while (__atomic_load_n(&counting.is_running, __ATOMIC_RELAXED))
        show_count();
    return unused;
}

static pthread_t start_counting(size_t at, uint64_t start, struct timer scale)
{
    pthread_t thread;
    counting.is_running = true;
    counting.at = at;
    counting.start = start;
    counting.scale = scale;
    counting.start_ns = kernel_now(CLOCK_MONOTONIC);
    show_count(); /* before the thread has its turn */
    assert_int_equal(pthread_create(&thread, NULL, count_on, NULL), 0);
    return thread;
}

static void stop_counting(pthread_t thread)
{
    __atomic_store_n(&counting.is_running, false, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
}

/* The thread that counts may be held up, and then the timer stands still, or seems torn. */
static bool is_held_up(const struct timer *timer, int error)
{
    return error == TIMEBASE_E_REFERENCE &&
        (strstr(timer->reason, "stands still") || strstr(timer->reason, "contradict"));
}

static void open_hpet(struct timer *timer)
{
    int error;
    do {
        error = timer_open_hpet(timer, device_path);
    } while (is_held_up(timer, error));
    assert_int_equal(error, TIMEBASE_OK);
}

static void sample_now(const struct reference *reference, struct timer *timer,
                       struct discipline_sample *sample)
{
    int error;
    do {
        error = reference->sample(timer, sample);
    } while (error != TIMEBASE_OK && is_held_up(timer, error));
    assert_int_equal(error, TIMEBASE_OK);
}

/* Nothing that a delay could break: order, and who was asked for what. */
static void assert_samples_advance(const struct reference *reference, struct timer *timer)
{
    struct discipline_sample last = {0}, sample;
    for (int i = 0; i < 50; i++) {
        struct timespec pause = {.tv_nsec = 200000};
        sample_now(reference, timer, &sample);
        assert_true((int64_t)(sample.ticks_after - sample.ticks_before) > 0);
        assert_true(sample.mono_ns >= last.mono_ns);
        assert_true(sample.utc_offset_ns == timer->utc_ns);
        assert_false(sample.is_synchronized);
        assert_int_equal(sample.flags, 0);
        last = sample;
        nanosleep(&pause, NULL);
    }
    /* It went on, and did not jump by a wrap of 4 s or more. */
    assert_true(last.mono_ns > 0);
    int64_t age_ns = kernel_now(CLOCK_MONOTONIC) - counting.start_ns;
    assert_true(last.mono_ns <= age_ns + 1000000);
}

static void an_hpet_of_either_width_counts_on_across_its_wrap(void **state)
{
    const unsigned widths[] = {32, 64};
    struct timer timer;
    (void)state;
    for (int i = 0; i < 2; i++) {
        uint64_t is_long = widths[i] == 64 ? 1 << 13 : 0;
        make_hpet((uint64_t)HPET_FS << 32 | is_long, 1);
        uint64_t start = 0xffffffff - 14318; /* a millisecond to go */
        pthread_t thread = start_counting(0xf0, start, hpet_like(widths[i]));
        open_hpet(&timer);
        assert_int_equal(timer.width, widths[i]);
        assert_samples_advance(&reference_hpet, &timer);
        reference_hpet.close(&timer);
        stop_counting(thread);
    }
}

static void an_acpi_timer_counts_on_across_its_wrap(void **state)
{
    struct timer timer;
    (void)state;
    fill_table();
    write_table();
    pthread_t thread = start_counting(0x608, 0xffffff - 3580, pm_like(24));
    int error;
    do {
        error = timer_open_acpi_pm(&timer, table_path, device_path);
    } while (is_held_up(&timer, error));
    if (error == TIMEBASE_OK)
        assert_samples_advance(&reference_acpi_pm, &timer);
    reference_acpi_pm.close(&timer);
    stop_counting(thread);
    assert_int_equal(error, TIMEBASE_OK);
}

static void a_bracket_has_room_for_a_whole_count(void **state)
{
    struct timer timer;
    struct discipline_sample sample;
    (void)state;
    make_hpet((uint64_t)HPET_FS << 32, 1);
    pthread_t thread = start_counting(0xf0, 0, hpet_like(32));
    open_hpet(&timer);
    timer.step_ticks = 1000000;
    sample_now(&reference_hpet, &timer, &sample);
    assert_true(sample.ticks_after - sample.ticks_before >= 1000000);
    timer_close(&timer);
    stop_counting(thread);
}

static void a_timer_that_stands_still_is_refused(void **state)
{
    struct timer timer;
    (void)state;
    make_hpet((uint64_t)HPET_FS << 32, 1);
    assert_int_equal(timer_open_hpet(&timer, device_path), TIMEBASE_E_REFERENCE);
    assert_non_null(strstr(timer.reason, "stands still"));
    assert_true(timer.registers == NULL && timer.fd == -1);
}

static void what_is_no_hpet_is_refused(void **state)
{
    struct timer timer;
    (void)state;
    make_hpet(0, 1);
    assert_int_equal(timer_open_hpet(&timer, device_path), TIMEBASE_E_FORMAT);
    make_hpet((uint64_t)100000001 << 32, 1);
    assert_int_equal(timer_open_hpet(&timer, device_path), TIMEBASE_E_FORMAT);
    make_hpet((uint64_t)HPET_FS << 32, 0);
    assert_int_equal(timer_open_hpet(&timer, device_path), TIMEBASE_E_REFERENCE);
    assert_non_null(strstr(timer.reason, "switched off"));
    fill_table();
    write_table(); /* too short for a page of registers: would be SIGBUS */
    assert_int_equal(timer_open_hpet(&timer, table_path), TIMEBASE_E_FORMAT);
    assert_int_equal(timer_open_hpet(&timer, "/nowhere/hpet"), TIMEBASE_E_REFERENCE);
    assert_non_null(strstr(timer.reason, "no HPET"));
}

static void what_is_no_acpi_timer_is_refused(void **state)
{
    struct timer timer;
    (void)state;
    fill_table();
    write_table();
    assert_int_equal(timer_open_acpi_pm(&timer, device_path, device_path), TIMEBASE_E_FORMAT);
    assert_int_equal(timer_open_acpi_pm(&timer, "/nowhere", device_path), TIMEBASE_E_REFERENCE);
    assert_int_equal(timer_open_acpi_pm(&timer, table_path, "/nowhere"), TIMEBASE_E_REFERENCE);
    assert_non_null(strstr(timer.reason, "/dev/port"));
    assert_int_equal(timer_open_acpi_pm(&timer, table_path, table_path), TIMEBASE_E_REFERENCE);
    assert_int_equal(timer.fd, -1);
}

static void there_are_no_moments(void **state)
{
    struct timer timer = hpet_like(32);
    struct reference_moment moment;
    (void)state;
    assert_int_equal(reference_hpet.moment(&timer, &moment), TIMEBASE_E_REFERENCE);
    assert_string_equal(reference_hpet.name, "hpet");
    assert_string_equal(reference_acpi_pm.name, "acpi_pm");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_become_nanoseconds_without_overflow),
        cmocka_unit_test(every_wrap_is_counted),
        cmocka_unit_test(a_counter_of_64_bits_is_taken_as_it_is),
        cmocka_unit_test(torn_readings_are_not_believed),
        cmocka_unit_test(the_table_names_port_and_width),
        cmocka_unit_test(tables_that_are_not_whole_are_refused),
        cmocka_unit_test(machines_without_the_timer_are_told_so),
        cmocka_unit_test(an_hpet_of_either_width_counts_on_across_its_wrap),
        cmocka_unit_test(an_acpi_timer_counts_on_across_its_wrap),
        cmocka_unit_test(a_bracket_has_room_for_a_whole_count),
        cmocka_unit_test(a_timer_that_stands_still_is_refused),
        cmocka_unit_test(what_is_no_hpet_is_refused),
        cmocka_unit_test(what_is_no_acpi_timer_is_refused),
        cmocka_unit_test(there_are_no_moments),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
