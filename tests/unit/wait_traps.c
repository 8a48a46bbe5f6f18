/* SPDX-License-Identifier: MIT */
/*
 * Programs may have asked for a signal where a floating-point operation is invalid, overflows or
 * divides by zero; some Lisps always do. Nothing in a waiter is such an operation, on purpose or by
 * the way.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <fenv.h>
#include <math.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dice.h"
#include "waiting.h"

/*
 * Half-words of the counter are copied into the registers that hold floating-point numbers. These are
 * no number: 3 ms in 0.8 s, at 2.6 GHz.
 */
#define NO_NUMBER_TICKS 0x7f800001u
#define NO_NUMBERS 0x7fffffu
#define PERIOD_TICKS 0x80000000u
#define PERIOD_MAX_NS 3e9 /* slower counters come there too seldom */

enum { ROUNDS = 2, WAITS = 1000, WAITS_MAX = 100000 };

static struct dice dice;

#ifdef __GLIBC__

static bool begin_traps(void)
{
    return feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW) != -1;
}

static void end_traps(void)
{
    fedisableexcept(FE_ALL_EXCEPT);
}

#else

static bool begin_traps(void)
{
    return false;
}

static void end_traps(void)
{
}

#endif

/* Not every processor can, and on 32-bit PowerPC QEMU's user emulation ends who asks for it. */
static bool can_trap(void)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(begin_traps() ? 0 : 1);
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
        WEXITSTATUS(status) == 0;
}

static void wait_anyhow(struct timebase_waiter *waiter)
{
    struct timebase_wait_result result;
    unsigned flags = (unsigned)dice_below(&dice, EVERY_FLAG + 1);
    uint64_t distance = dice_below(&dice, 8000);
    int with_result = dice_below(&dice, 2) == 0;
    enum way way = (enum way)dice_below(&dice, WAYS);
    wait_by(waiter, way, target_in(way, (int64_t)distance), flags, with_result ? &result : NULL);
    timebase_delay_ns(waiter, distance, flags, with_result ? &result : NULL);
}

static uint32_t ticks_until_no_number(void)
{
    return (NO_NUMBER_TICKS - (uint32_t)timebase_ticks()) % PERIOD_TICKS;
}

static bool is_no_number(void)
{
    return ((uint32_t)timebase_ticks() - NO_NUMBER_TICKS) % PERIOD_TICKS < NO_NUMBERS;
}

static void sleep_until_no_number(void)
{
    double ns = ticks_until_no_number() / ticks_per_ns();
    struct timespec rest = {(time_t)(ns / 1e9), (long)fmod(ns, 1e9)};
    if (PERIOD_TICKS / ticks_per_ns() < PERIOD_MAX_NS)
        nanosleep(&rest, NULL);
}

static void no_wait_does_what_is_no_arithmetic(void **state)
{
    static struct timebase_waiter waiter;
    struct timebase_waiter_description description;
    (void)state;
    if (!can_trap())
        skip();
    ticks_per_ns(); /* our own helpers' first use is not what is tried here */
    for (int round = 0; round < ROUNDS; round++) {
        timebase_waiter_init(&waiter, timebase_clock_default());
        sleep_until_no_number();
        begin_traps();
        for (int i = 0; i < WAITS || (is_no_number() && i < WAITS_MAX); i++)
            wait_anyhow(&waiter);
        timebase_waiter_init(&waiter, timebase_clock_default());
        timebase_waiter_describe(&waiter, &description);
        end_traps();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_wait_does_what_is_no_arithmetic)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
