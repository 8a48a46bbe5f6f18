/* SPDX-License-Identifier: MIT */
/*
 * Conversion error of every counter from 1 MHz to 5 GHz, over 100 years of ticks, against exact
 * integer arithmetic. The goal is 2 ns. What is to be expected: the product is rounded down
 * (less than 1 ns), and so is the period (less than 2^-64 ns for each tick); never ahead of time.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <inttypes.h>

#include <timebase.h>

#include "../unit/never_expires.h"
#include "clock/line/fixed.h"

#define NS_PER_SEC 1000000000u
#define CENTURY_SEC UINT64_C(3155760000)
#define HZ_MIN UINT64_C(1000000)
#define HZ_MAX UINT64_C(5000000000)
#define ERROR_GOAL_PS 2000
#define RANDOM_TICKS 40
#define RANDOM_HZ 2000
#define SEED UINT64_C(0x7462706167650001)

/*
 * Exact arithmetic, slow and plain, that shares nothing with the library's: numbers of 16-bit
 * digits, least first, so that no step leaves 64 bits on any machine.
 */
#define DIGITS 8

struct exact {
    uint16_t digits[DIGITS];
};

static struct exact exact_product(uint64_t a, uint64_t b)
{
    struct exact product = {{0}};
    for (int i = 0; i < 4; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < 4; j++) {
            carry += (uint64_t)(uint16_t)(a >> 16 * i) * (uint16_t)(b >> 16 * j);
            carry += product.digits[i + j];
            product.digits[i + j] = (uint16_t)carry;
            carry >>= 16;
        }
        product.digits[i + 4] = (uint16_t)carry;
    }
    return product;
}

/* Quotient, modulo 2^64, and remainder of a division by less than 2^48. */
static uint64_t exact_quotient(const struct exact *a, uint64_t divisor, uint64_t *remainder)
{
    uint64_t quotient = 0;
    *remainder = 0;
    for (int i = DIGITS - 1; i >= 0; i--) {
        uint64_t part = (*remainder << 16) | a->digits[i];
        quotient = (quotient << 16) + part / divisor;
        *remainder = part % divisor;
    }
    return quotient;
}

static uint64_t exact_upper(const struct exact *a)
{
    const uint16_t *d = a->digits;
    return (uint64_t)d[7] << 48 | (uint64_t)d[6] << 32 | (uint64_t)d[5] << 16 | d[4];
}

struct worst {
    uint64_t hz, ticks, error_ps;
};

static struct worst worst_forwards, worst_backwards;
static uint64_t comparisons;

static void note(struct worst *worst, uint64_t hz, uint64_t ticks, uint64_t error_ps)
{
    comparisons++;
    if (error_ps > worst->error_ps)
        *worst = (struct worst){hz, ticks, error_ps};
}

/* whole + part / hz nanoseconds, in picoseconds rounded up. */
static uint64_t picoseconds(uint64_t whole, uint64_t part, uint64_t hz)
{
    return whole * 1000 + (part * 1000 + hz - 1) / hz;
}

/* Is part / hz no more than what the period lacks, 2^-64 ns for each tick? */
static bool is_within_period_error(uint64_t part, uint64_t ticks, uint64_t hz)
{
    struct exact product = exact_product(ticks, hz);
    return part <= exact_upper(&product);
}

/* The line as it is: exact - converted is 0 or more, and less than 1 ns + ticks * 2^-64 ns. */
static void check_forwards(const struct timebase_line *line, uint64_t hz, uint64_t ticks)
{
    struct timebase_instant instant;
    uint64_t part;
    struct exact product = exact_product(ticks, NS_PER_SEC);
    uint64_t exact_ns = exact_quotient(&product, hz, &part);
    timebase_line_convert(line, ticks, TIMEBASE_WANT_MONO, &instant);
    uint64_t whole = exact_ns - ((uint64_t)instant.mono_ns - line->mono_ns);
    if (whole > 1 || (whole == 1 && !is_within_period_error(part, ticks, hz)))
        fail_msg("%" PRIu64 " Hz, %" PRIu64 " ticks: %" PRId64 " ns, off by %" PRId64 " ns", hz,
                 ticks, instant.mono_ns, (int64_t)whole);
    note(&worst_forwards, hz, ticks, picoseconds(whole, part, hz));
}

/* Drawn backwards: behind by less than 1 ns, or ahead by what the period lacks. */
static void check_backwards(const struct timebase_page *page, uint64_t hz, uint64_t ticks)
{
    const struct timebase_line *line = &page->copy[page->seq & 1].before;
    struct timebase_instant instant;
    uint64_t part;
    struct exact product = exact_product(ticks, NS_PER_SEC);
    uint64_t exact_ns = exact_quotient(&product, hz, &part);
    assert_true(timebase_page_convert(page, line->start_ticks - ticks, &instant));
    int64_t ahead = (int64_t)(exact_ns - (line->mono_ns - (uint64_t)instant.mono_ns));
    bool is_behind = ahead == -1;
    if (ahead < -1 || ahead > 0 || (!is_behind && !is_within_period_error(part, ticks, hz)))
        fail_msg("%" PRIu64 " Hz, %" PRIu64 " ticks back: %" PRId64 " ns, off by %" PRId64 " ns",
                 hz, ticks, instant.mono_ns, ahead);
    note(&worst_backwards, hz, ticks, picoseconds(0, is_behind ? hz - part : part, hz));
}

static struct timebase_line line_of(uint64_t hz)
{
    struct fixed period = fixed_over(fixed_from_ns(NS_PER_SEC), hz);
    struct timebase_line line = {0};
    line.start_ticks = UINT64_C(0xfedcba9876543210);
    line.mono_ns = UINT64_C(123456789012345);
    line.period_ns = (uint32_t)period.ns;
    line.period_frac = period.frac;
    return line;
}

static uint64_t random_state = SEED;

static uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static void check_ticks(const struct timebase_page *page, uint64_t hz, uint64_t ticks)
{
    const struct timebase_line *line = &page->copy[page->seq & 1].before;
    check_forwards(line, hz, ticks);
    if (ticks <= INT64_MAX) /* half the counter: what is further back is ahead */
        check_backwards(page, hz, ticks);
}

static void check_frequency(uint64_t hz)
{
    static struct timebase_page page;
    const uint64_t century = CENTURY_SEC * hz;
    struct timebase_line line = line_of(hz);
    page.seq = 2;
    page.copy[0] = (struct timebase_lines){line, line, line, NEVER_EXPIRES};
    for (int bit = 0; bit < 64 && (UINT64_C(1) << bit) <= century; bit++) {
        check_ticks(&page, hz, UINT64_C(1) << bit);
        check_ticks(&page, hz, (UINT64_C(1) << bit) - 1);
    }
    for (uint64_t k = 0; k < 4; k++) {
        check_ticks(&page, hz, century - k);
        check_ticks(&page, hz, k * hz + 1);
    }
    for (int i = 0; i < RANDOM_TICKS; i++)
        check_ticks(&page, hz, random_bits() % century);
}

static void test_logarithmic(void **state)
{
    (void)state;
    for (uint64_t hz = HZ_MIN; hz < HZ_MAX; hz += hz / 1024)
        check_frequency(hz);
}

static void test_random(void **state)
{
    (void)state;
    random_state = SEED;
    print_message("seed %#" PRIx64 "\n", random_state);
    for (int i = 0; i < RANDOM_HZ; i++)
        check_frequency(HZ_MIN + random_bits() % (HZ_MAX - HZ_MIN + 1));
}

/* Counters there are, primes, and neighbours of powers of two and ten. */
static void test_awkward(void **state)
{
    static const uint64_t list[] = {
        1000000,    1000003,    1193182,    3579545,    14318180,   14318181,   16777213,
        16777216,   19200000,   24000000,   25000000,   33333333,   54000000,   62500000,
        79800000,   99999989,   100000000,  188000000,  207050000,  511999999,  512000000,
        999999937,  999999999,  1000000000, 1000000001, 1000000007, 1073741824, 2147483647,
        2147483648, 2147483649, 2599998123, 2600000158, 2999999993, 4096000000, 4294967291,
        4294967295, 4294967296, 4294967297, 4294967311, 4999999937, 4999999999, 5000000000};
    (void)state;
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
        check_frequency(list[i]);
}

static void report(const char *direction, const struct worst *worst)
{
    print_message("worst %s: %u ps, %" PRIu64 " Hz, %" PRIu64 " ticks\n", direction,
                  (unsigned)worst->error_ps, worst->hz, worst->ticks);
}

static void test_goal(void **state)
{
    (void)state;
    print_message("%" PRIu64 " conversions\n", comparisons);
    report("forwards", &worst_forwards);
    report("backwards", &worst_backwards);
    assert_true(comparisons > 0);
    assert_true(worst_forwards.error_ps <= ERROR_GOAL_PS);
    assert_true(worst_backwards.error_ps <= ERROR_GOAL_PS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_logarithmic),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_awkward),
        cmocka_unit_test(test_goal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
