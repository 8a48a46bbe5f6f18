/* SPDX-License-Identifier: MIT */
/*
 * The last approach on 64-bit Arm, Power, RISC-V and s390x: approach.h, with a clean sample of one
 * reading. C, but for the entry into the run of dependent additions, which is in
 * approach_<processor>.h.
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
 * Slow counters. The whole run is LONGEST_RUN cycles, some 80 ns. Where a tick is longer (24 MHz:
 * 42 ns, RISC-V's 1 or 10 MHz) the uncertainty of a sample of one reading is more than the run can
 * fill. Calibration then finds latencies that do not grow, or entries outside of the table, and
 * chooses the polling loop, whose error is a tick.
 */
#include <timebase/counter.h>
#include <timebase/wait.h>

#include "approach.h"
#include "evidence.h"

#if defined(__aarch64__)
#include "approach_arm64.h"
#elif defined(__powerpc__)
#include "approach_power.h"
#elif defined(__riscv) && __riscv_xlen == 64
#include "approach_riscv.h"
#elif defined(__s390x__)
#include "approach_s390x.h"
#endif

#ifdef APPROACH_LINK

enum { BLOCK = 32, FARTHEST_TICKS = 1 << 22 /* 256ths of it fit 31 bits */ };

typedef uintptr_t enter_function(uintptr_t run, uintptr_t chain);
typedef void call_function(void *argument, void (*event)(void *));

/* What both ways are made of: inlined into each, with its own entries. */
#define PART static inline __attribute__((always_inline))

PART uintptr_t links(uintptr_t chain)
{
    __asm__ __volatile__(".rept %c1\n\t" APPROACH_LINK ".endr" : "+r"(chain) : "i"(BLOCK) : "cc");
    return chain;
}

PART void poll(struct approach *approach)
{
    uint64_t start = timebase_arch_ticks(), now = start, gap = 0;
    uint32_t polls = 0;
    do {
        uint64_t before = now;
        now = timebase_arch_ticks();
        polls++;
        gap = now - before > gap ? now - before : gap;
    } while ((int64_t)(now - approach->leave_ticks) < 0);
    approach->polls = polls;
    approach->polled_ticks = now - start;
    approach->gap_ticks = gap < UINT32_MAX ? (uint32_t)gap : UINT32_MAX;
}

/* Relative to the target, in 256ths of a tick, limited to FARTHEST_TICKS. */
PART int32_t relative_256(uint64_t ticks, uint64_t target_ticks)
{
    int64_t relative = (int64_t)(ticks - target_ticks);
    relative = relative < -FARTHEST_TICKS ? -FARTHEST_TICKS : relative;
    relative = relative > FARTHEST_TICKS ? FARTHEST_TICKS : relative;
    return (int32_t)(relative * 256);
}

PART void sample(struct approach *approach)
{
    uint64_t first = timebase_arch_ticks_ordered();
    approach->middle_256 = relative_256(first, approach->target_ticks);
    approach->width_256 = 0;
    approach->allowed_256 = approach->step_256;
}

/* Seldom needed: more time is left than the table covers. The index depends on the additions. */
static __attribute__((noinline)) int64_t wait_longer(int64_t index, int32_t longer_quarters)
{
    uintptr_t chain = 0;
    for (; index >= APPROACH_TABLE_ENTRIES && longer_quarters > 0; index -= longer_quarters) {
        for (int i = 0; i < APPROACH_LONGER / 4; i++)
            __asm__ __volatile__(APPROACH_LINK APPROACH_LINK APPROACH_LINK APPROACH_LINK
                                 : "+r"(chain)
                                 :
                                 : "cc");
        approach_settle(chain);
    }
    return index < APPROACH_TABLE_ENTRIES ? index : APPROACH_TABLE_ENTRIES - 1;
}

_Static_assert(APPROACH_LONGER % 4 == 0, "wait_longer: links a turn");

PART uintptr_t look_up(struct approach *approach)
{
    int64_t index = (-(int64_t)approach->middle_256 - approach->base_256) >> 6;
    if (__builtin_expect(index >= APPROACH_TABLE_ENTRIES, 0))
        index = wait_longer(index, approach->longer_quarters);
    return approach->run = approach->table[index < 0 ? 0 : index];
}

/* `chain` is 0, and known when the last of the additions has been done. */
PART void stamp(struct approach *approach, uintptr_t chain)
{
    const char *after = (const char *)&approach->longer_quarters + chain;
    (void)*(const volatile int32_t *)(const void *)after;
    do {
        approach->event_ticks = timebase_arch_ticks_ordered();
    } while ((int64_t)(approach->event_ticks - approach->not_before_ticks) < 0);
}

PART void take_evidence(struct approach *approach)
{
    approach->marker = evidence_marker();
    approach->rseq_cpu = approach->rseq[1];
    approach->rseq_marker = evidence_rseq_marker(approach->rseq);
}

PART void approach_by(enter_function *enter, call_function *call, struct approach *approach)
{
    poll(approach);
    sample(approach);
    stamp(approach, enter(look_up(approach), 0));
    take_evidence(approach);
    call(approach->argument, approach->event);
}

PART void run_by(enter_function *enter, uint64_t instructions)
{
    uintptr_t chain = 0;
    approach_settle(chain);
    for (; instructions >= BLOCK; instructions -= BLOCK)
        chain = links(chain);
    approach_settle(enter((uintptr_t)instructions, chain));
}

#if APPROACH_HAS_RETURN
call_function approach_call_return;
approach_function approach_return_single;

void approach_return_single(struct approach *approach)
{
    approach_by(approach_enter_return, approach_call_return, approach);
}

static void run_by_return(uint64_t instructions)
{
    run_by(approach_enter_return, instructions);
}
#endif

#if APPROACH_HAS_JUMP
approach_function approach_jump_single;

PART void call(void *argument, void (*event)(void *))
{
    event(argument);
}

void approach_jump_single(struct approach *approach)
{
    approach_by(approach_enter_jump, call, approach);
}

static void run_by_jump(uint64_t instructions)
{
    run_by(approach_enter_jump, instructions);
}
#endif

#endif

#ifdef __x86_64__
typedef int approach_single_is_elsewhere;
#else
void approach_event_none(void *argument)
{
    (void)argument;
}

/* Where no approach is written for the processor, as i686 and 32-bit Arm, it polls. */
struct approach_ways approach_ways(void)
{
#if defined(APPROACH_LINK) && APPROACH_HAS_RETURN
    if (!approach_stack_is_guarded())
        return (struct approach_ways){approach_return_single, 0, 0, run_by_return,
                                      TIMEBASE_MECHANISM_RETURN};
#endif
#if defined(APPROACH_LINK) && APPROACH_HAS_JUMP
    return (struct approach_ways){approach_jump_single, 0, 0, run_by_jump, TIMEBASE_MECHANISM_JUMP};
#endif
    return (struct approach_ways){0, 0, 0, 0, TIMEBASE_MECHANISM_LOOP};
}
#endif
