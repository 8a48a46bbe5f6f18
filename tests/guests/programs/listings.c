/* SPDX-License-Identifier: MIT */
/*
 * The faults of the listings of 2007 over the fields that this machine's kernel, or we, keep, each
 * beside what is mended. A line of each; exit code 1 if one of theirs did not bite, or one of ours:
 *
 *     retry     fields of two updates, as read by who is preempted between them
 *     barriers  a reader that never learns of the end of an update: what it has loaded, it keeps
 *     carry     2^32 too little in the upper half of a product
 *     steps     nanoseconds that only come by 953 and 954
 */
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "../../../examples/power/tb_nano.h"

#define NS_PER_SEC 1000000000
#define MIXED_XSEC 2098 /* 2 ms: kernels renew the fields at each tick */
#define MIXED_NS 1000000
#define LOOKS 100000 /* for that, a millisecond apart */
#define SIGNALS 10
#define OPERANDS 1000000
#define READINGS 10000

static int failures;

static void report(const char *fault, bool is_right, const char *what, int64_t theirs, int64_t ours)
{
    printf("%s: %s: listing %" PRId64 ", ours %" PRId64 "%s\n", fault, what, theirs, ours,
           is_right ? "" : " FAILED");
    failures += !is_right;
}

/* --- retry --- */

static bool repeats_2007(uint64_t start, uint64_t end)
{
    return start != end && (start & 1) != 0;
}

static bool repeats(uint64_t start, uint64_t end)
{
    return start != end || (start & 1) != 0;
}

/* Until updates have moved the stamp so far that a mixture with the old one must show. */
static void be_preempted(uint64_t stamp_xsec)
{
    const struct timespec look = {0, 1000000};
    for (int i = 0; i < LOOKS; i++) {
        if (timebase_page_word(&cfg->stamp_xsec) - stamp_xsec >= MIXED_XSEC)
            return;
        nanosleep(&look, NULL);
    }
}

/*
 * How far listing 5 is from the time of its tick, if it begins between two updates and is preempted
 * once between two fields.
 */
static int64_t off_when_preempted_ns(bool (*is_repeated)(uint64_t, uint64_t))
{
    uint64_t start, end, ticks, xsec, low;
    bool was_preempted = false;
    do {
        do
            start = timebase_page_word(&cfg->tb_update_count);
        while ((start & 1) != 0);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        uint64_t stamp = timebase_page_word(&cfg->tb_orig_stamp);
        ticks = timebase_ticks_ordered();
        xsec = timebase_multiply_high(ticks - stamp, timebase_page_word(&cfg->tb_to_xs));
        if (!was_preempted)
            be_preempted(timebase_page_word(&cfg->stamp_xsec));
        was_preempted = true;
        xsec += timebase_page_word(&cfg->stamp_xsec);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        end = timebase_page_word(&cfg->tb_update_count);
    } while (is_repeated(start, end));
    uint64_t high = timebase_multiply(xsec, NS_PER_SEC, &low);
    int64_t read_ns = (int64_t)((high << 44) | (low >> 20));
    return read_ns - timebase_utc_at_ns(timebase_clock_default(), ticks);
}

static void try_retry(void)
{
    int64_t theirs = off_when_preempted_ns(repeats_2007), ours = off_when_preempted_ns(repeats);
    report("retry", theirs >= MIXED_NS && ours < MIXED_NS, "ns ahead when preempted", theirs, ours);
}

/* --- barriers --- */

/* Listing 5 with the right condition, and nothing else to keep the compiler from its loads. */
static __attribute__((noinline)) uint64_t read_without_barriers(const struct systemcfg *fields)
{
    uint64_t start, end, xsec;
    do {
        start = fields->tb_update_count;
        xsec = fields->stamp_xsec +
            timebase_multiply_high(timebase_arch_ticks() - fields->tb_orig_stamp, fields->tb_to_xs);
        end = fields->tb_update_count;
    } while (repeats(start, end));
    return xsec;
}

static struct systemcfg ending;
static volatile sig_atomic_t signals;
static sigjmp_buf out;

/* The first signal ends the update; a reader that still waits at the last one waits for ever. */
static void end_update(int number)
{
    (void)number;
    if (++signals == 1)
        timebase_page_set_word_release(&ending.tb_update_count, 2);
    else if (signals == SIGNALS)
        siglongjmp(out, 1);
}

static void set_timer(int us)
{
    const struct itimerval timer = {{0, us}, {0, us}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* Whether the reader is still waiting some updates later. */
static bool waits_for_ever(uint64_t (*read)(const struct systemcfg *))
{
    if (sigsetjmp(out, 1) != 0) {
        set_timer(0);
        return true;
    }
    signals = 0;
    timebase_page_set_word_release(&ending.tb_update_count, 1);
    set_timer(10000);
    read(&ending);
    set_timer(0);
    return false;
}

static void try_barriers(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = end_update;
    sigaction(SIGALRM, &action, NULL);
    bool theirs = waits_for_ever(read_without_barriers);
    report("barriers", theirs, "still waiting after the end of an update", theirs, 0);
}

/* --- carry --- */

/* Listing 6: the middle of the product in one variable of 64 bits. */
static uint64_t multiply_high_2007(uint64_t a, uint64_t b)
{
    uint64_t a_low = (uint32_t)a, a_high = a >> 32, b_low = (uint32_t)b, b_high = b >> 32;
    uint64_t middle = a_high * b_low + b_high * a_low + (a_low * b_low >> 32);
    return a_high * b_high + (middle >> 32);
}

/* Modulo 2^32 - 1, where 2^64 is 1; no multiplication of 64 by 64 bits has a part in it. */
static bool is_product(uint64_t a, uint64_t b, uint64_t high, uint64_t low)
{
    const uint64_t modulus = 0xffffffff;
    return (a % modulus) * (b % modulus) % modulus == (high % modulus + low % modulus) % modulus;
}

static void try_carry(void)
{
    int theirs = 0, ours = 0;
    uint64_t seed = 88172645463325252;
    for (int i = 0; i < OPERANDS; i++) {
        uint64_t high, low;
        seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
        uint64_t a = seed;
        seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
        multiply(a, seed, &high, &low);
        ours += !is_product(a, seed, high, low);
        theirs += !is_product(a, seed, multiply_high_2007(a, seed), low);
    }
    report("carry", theirs > 0 && ours == 0, "wrong products of a million", theirs, ours);
}

/* --- steps --- */

static int64_t read_nano(void)
{
    return (int64_t)tb_nano();
}

static int64_t read_ours(void)
{
    return timebase_utc_ns(timebase_clock_default());
}

/* Readings that are no multiple of 2^-20 s, rounded down. */
static int off_the_steps(int64_t (*read)(void))
{
    int off = 0;
    for (int i = 0; i < READINGS; i++) {
        uint64_t ns = (uint64_t)read() % NS_PER_SEC;
        uint64_t step = (ns * XSEC_PER_SEC + NS_PER_SEC - 1) / NS_PER_SEC;
        off += step * NS_PER_SEC / XSEC_PER_SEC != ns;
    }
    return off;
}

static void try_steps(void)
{
    int theirs = off_the_steps(read_nano), ours = off_the_steps(read_ours);
    report("steps", theirs == 0 && ours > 0, "readings between steps of 954 ns", theirs, ours);
}

int main(void)
{
    if (systemcfg_open(NULL) < 0)
        return 2;
    try_retry();
    try_barriers();
    try_carry();
    try_steps();
    return failures != 0;
}
