/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "accuracy_state.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "accuracy.h"

#define WORK_BYTES (8 * 1024 * 1024)
#define LINE 64
#define VECTOR_TURNS 80000 /* some 0.3 ms */

static void idle(uint64_t ns)
{
    struct timespec rest = {
        .tv_sec = (time_t)(ns / 1000000000),
        .tv_nsec = (long)(ns % 1000000000),
    };
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, &rest) == EINTR)
        ;
}

static void work(void)
{
    static volatile unsigned char memory[WORK_BYTES];
    for (size_t at = 0; at < WORK_BYTES; at += LINE)
        memory[at]++;
}

#if defined(__x86_64__)
#include <immintrin.h>

static bool can_multiply_vectors(void)
{
    return __builtin_cpu_supports("avx512f");
}

/* Two chains of fused multiplications. Cores that lower their clock for these raise it again some
 * 0.7 ms after the last one. */
__attribute__((target("avx512f"), noinline)) static void multiply_vectors(void)
{
    __m512d a = _mm512_set1_pd(1.0000001), b = a, small = _mm512_set1_pd(1e-9);
    for (int turn = 0; turn < VECTOR_TURNS; turn++) {
        a = _mm512_min_pd(_mm512_fmadd_pd(a, a, small), b);
        b = _mm512_min_pd(_mm512_fmadd_pd(b, b, small), a);
    }
    static volatile double sink;
    sink = _mm512_reduce_add_pd(_mm512_add_pd(a, b));
    (void)sink;
}
#else
static bool can_multiply_vectors(void)
{
    return false;
}

static void multiply_vectors(void)
{
}
#endif

int timebase_bench_state_possible(int state)
{
    if (state == TIMEBASE_BENCH_STATE_VECTOR)
        return can_multiply_vectors();
    return state >= TIMEBASE_BENCH_STATE_AS_IS && state < TIMEBASE_BENCH_STATE_VECTOR;
}

void bench_state_enter(int state, uint64_t idle_ns)
{
    switch (state) {
    case TIMEBASE_BENCH_STATE_IDLE:
        idle(idle_ns);
        break;
    case TIMEBASE_BENCH_STATE_WORK:
        work();
        break;
    case TIMEBASE_BENCH_STATE_VECTOR:
        multiply_vectors();
        break;
    default:
        break;
    }
}
