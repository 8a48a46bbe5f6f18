/* SPDX-License-Identifier: MIT */
/*
 * The last approach on 64-bit Arm, Power, RISC-V and s390x: approach.h, with a clean sample of one
 * reading. C, but for the entry into the run of dependent additions, which is in
 * run_<processor>.h.
 *
 * Why C is enough. Between the sample and the run, and between the stamp and the event, there are a
 * few instructions without branches or calls. Calibration runs this same code, so the latencies
 * that it measures include them. The compiler sees to stack, unwinding and function descriptors. On
 * x86-64 all of it is assembly, as the readings must keep their distances.
 *
 * Order. The sample and the stamp are timebase_arch_ticks_ordered(): read after all earlier loads
 * have their values; include/timebase/arch quotes the manuals. The additions add 0 to 0, and a load
 * from an address with their sum in it stands before the stamp: so the stamp follows the run. The
 * run follows the sample, as the sample says where the run begins. The event is entered by a branch
 * after the stamp. A processor whose counter reading is serialising (stck) does not begin it
 * before; others may begin it a few instructions ahead, always the same number.
 *
 * The way into the run is not hidden, as it is on x86-64, because C cannot arrange that. It takes
 * the same time in each wait in which the return is predicted wrongly.
 *
 * Slow counters. The whole run is LONGEST_RUN cycles, some 80 ns. Where a tick is longer (24 MHz:
 * 42 ns, RISC-V's 1 or 10 MHz) the uncertainty of a sample of one reading is more than the run can
 * fill. Calibration then chooses the polling loop, whose error is a tick.
 */
#include <stddef.h>

#include <timebase/counter.h>
#include <timebase/wait.h>

#include "approach.h"
#include "evidence.h"

#if defined(__aarch64__)
#include "run_arm64.h"
#elif defined(__powerpc__)
#include "run_power.h"
#elif defined(__riscv) && __riscv_xlen == 64
#include "run_riscv.h"
#elif defined(__s390x__)
#include "run_s390x.h"
#endif

#ifdef APPROACH_LINK

enum { BLOCK = 32 };

typedef uintptr_t enter_function(uintptr_t run, uintptr_t chain);
typedef void call_function(void *argument, void (*event)(void *));

/* What both ways are made of: inlined into each, with its own entries. */
#define PART static inline __attribute__((always_inline))

PART uintptr_t links(uintptr_t chain)
{
    __asm__ __volatile__(".rept %c1\n\t" APPROACH_LINK ".endr" : "+r"(chain) : "i"(BLOCK) : "cc");
    return chain;
}

PART int64_t within(int64_t low, int64_t value, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* For those who look back. Nothing is asked of several polls together, so none contradicts others. */
PART void note_poll(struct approach *approach, int64_t ticks)
{
    uint32_t k = approach->polls++;
    approach->even_polls++;
    approach->poll_ticks[k % APPROACH_VERNIER] = (int32_t)ticks;
    if (k > 0) {
        int64_t gap = ticks - approach->poll_ticks[(k - 1) % APPROACH_VERNIER];
        approach->gap_ticks = gap > approach->gap_ticks ? (uint32_t)gap : approach->gap_ticks;
    }
}

/* Returns the cycles left for a run, by the middle of what the reading stands for. */
PART int32_t poll(struct approach *approach)
{
    enum { FARTHEST_CYCLES = 1 << 30 };
    int64_t ticks = (int64_t)(timebase_arch_ticks_ordered() - approach->target_ticks);
    ticks = within(-APPROACH_FARTHEST, ticks, APPROACH_FARTHEST);
    note_poll(approach, ticks);
    approach->sample_ticks = ticks * (1 << APPROACH_TICK_BITS) + approach->span_ticks / 2;
    int64_t overdue = approach->sample_ticks * approach->cycles_per_tick + approach->fixed_cycles;
    overdue = within(-FARTHEST_CYCLES, overdue >> APPROACH_CYCLE_BITS, FARTHEST_CYCLES);
    approach->overdue_cycles = (int32_t)overdue;
    return (int32_t)within(0, -overdue, FARTHEST_CYCLES);
}

PART uint32_t find_run(struct approach *approach)
{
    int32_t left;
    approach->polls = approach->gap_ticks = 0;
    approach->width_ticks = approach->span_ticks;
    while ((left = poll(approach)) > approach->another_cycles)
        ;
    return approach->run = (uint32_t)within(0, left, APPROACH_LONGEST_RUN);
}

/* `chain` is 0, and known when the last of the additions has been done. */
PART void stamp(struct approach *approach, uintptr_t chain)
{
    const char *after = (const char *)&approach->late_cycles + chain;
    (void)*(const volatile int32_t *)(const void *)after;
    approach->event_ticks = timebase_arch_ticks_ordered();
}

PART void take_evidence(struct approach *approach)
{
    approach->marker = evidence_marker();
    approach->rseq_cpu = approach->rseq[1];
    approach->rseq_marker = evidence_rseq_marker(approach->rseq);
    evidence_forget(approach);
}

PART int approach_by(enter_function *enter, call_function *call, struct approach *approach)
{
    stamp(approach, enter(find_run(approach), 0));
    take_evidence(approach);
    call(approach->argument, approach->event);
    return approach->overdue_cycles > approach->late_cycles;
}

PART void run_by(enter_function *enter, uint64_t cycles)
{
    uintptr_t chain = 0;
    approach_settle(chain);
    for (; cycles >= BLOCK; cycles -= BLOCK)
        chain = links(chain);
    approach_settle(enter((uintptr_t)cycles, chain));
}

#if APPROACH_HAS_RETURN
call_function approach_call_return;
approach_function approach_return;

int approach_return(struct approach *approach)
{
    return approach_by(approach_enter_return, approach_call_return, approach);
}

static void run_by_return(uint64_t cycles)
{
    run_by(approach_enter_return, cycles);
}
#endif

#if APPROACH_HAS_JUMP
approach_function approach_jump;

PART void call(void *argument, void (*event)(void *))
{
    event(argument);
}

int approach_jump(struct approach *approach)
{
    return approach_by(approach_enter_jump, call, approach);
}

static void run_by_jump(uint64_t cycles)
{
    run_by(approach_enter_jump, cycles);
}
#endif

#endif

#ifdef __x86_64__
typedef int approach_single_is_elsewhere;
#else
int approach_from(void *a, uint64_t b, uint64_t c, void *d, approach_within *within)
{
    return within(a, b, c, d, NULL);
}

void approach_event_none(void *argument)
{
    (void)argument;
}

/* Where no approach is written for the processor, as i686 and 32-bit Arm, it polls. */
struct approach_ways approach_ways(void)
{
#if defined(APPROACH_LINK) && APPROACH_HAS_RETURN
    if (!approach_stack_is_guarded())
        return (struct approach_ways){.exact = approach_return,
                                      .run = run_by_return,
                                      .mechanism = TIMEBASE_MECHANISM_RETURN};
#endif
#if defined(APPROACH_LINK) && APPROACH_HAS_JUMP
    return (struct approach_ways){
        .exact = approach_jump, .run = run_by_jump, .mechanism = TIMEBASE_MECHANISM_JUMP};
#endif
    return (struct approach_ways){.mechanism = TIMEBASE_MECHANISM_LOOP};
}
#endif
