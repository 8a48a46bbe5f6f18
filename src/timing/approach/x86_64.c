/* SPDX-License-Identifier: MIT */
/* Which approach this x86-64 process may use; the offsets that its assembly goes by. */
#ifdef __x86_64__

#include <stddef.h>

#include <timebase/counter.h>
#include <timebase/wait.h>

#include "approach.h"
#include "x86_64_offsets.h"

#define AT(field, offset)                                                                          \
    _Static_assert(offsetof(struct approach, field) == (offset), "in assembly: " #field)
AT(target_ticks, TARGET);
AT(leave_ticks, LEAVE);
AT(cycles_per_tick, CYCLES_PER_TICK);
AT(fixed_cycles, FIXED);
AT(earliest_ticks, EARLIEST);
AT(latest_ticks, LATEST);
AT(span_ticks, SPAN);
AT(event, EVENT);
AT(argument, ARGUMENT);
AT(rseq, RSEQ);
AT(frame, FRAME);
AT(behind, BEHIND);
AT(another_cycles, ANOTHER);
AT(pad_cycles, PAD);
AT(late_cycles, LATE);
AT(overdue_cycles, OVERDUE);
AT(event_ticks, EVENT_TICKS);
AT(sample_ticks, SAMPLE);
AT(width_ticks, WIDTH);
AT(run, RUN);
AT(gap_ticks, GAP);
AT(marker, MARKER);
AT(rseq_cpu, RSEQ_CPU);
AT(rseq_marker, RSEQ_MARKER);
AT(polls, COUNT);
AT(poll_ticks, POLLS);
AT(even_polls, EVEN_POLLS);
AT(even_least, EVEN_LEAST);
AT(loop_cycles, LOOP_CYCLES);
AT(end, END);
AT(hurry_ticks, HURRY);
AT(hurry_event_ticks, HURRY_EVENT);
AT(hurry_late, HURRY_LATE);
AT(usual_ticks, USUAL_PERIOD);
AT(sooner_from_ticks, SOONER_FROM);
AT(sooner_per_tick, SOONER_RATE);
AT(sooner_cycles, SOONER);
AT(edge_sooner_ticks, EDGE_SOONER);
AT(edge_links, EDGE_LINKS);
_Static_assert(APPROACH_LONGEST_RUN == LONGEST_RUN && APPROACH_LONGEST_PAD == LONGEST_PAD &&
                   APPROACH_ENDS_BEHIND == ENDS_BEHIND,
               "in assembly");
_Static_assert(APPROACH_VERNIER == VERNIER && APPROACH_FINE == FINE &&
                   APPROACH_PAD_CYCLES == PAD_CYCLES && APPROACH_NO_RUN == NO_RUN,
               "in assembly");
_Static_assert(APPROACH_TICK_BITS == TICK_BITS && APPROACH_CYCLE_BITS == CYCLE_BITS &&
                   APPROACH_FARTHEST == FARTHEST && APPROACH_NEVER == NEVER &&
                   APPROACH_LONGEST_EDGE == LONGEST_EDGE,
               "in assembly");

approach_function approach_return, approach_jump, approach_return_hot, approach_jump_hot;
approach_readings approach_fine_0, approach_fine_1, approach_fine_2;
approach_readings approach_series_0, approach_series_1, approach_series_2;
approach_foresight approach_foresee;
approach_foresight_of_return approach_foresee_return;
void approach_run(uint64_t cycles), approach_forget_returns(void);
approach_counting approach_count;
extern const char approach_return_runs[], approach_return_returning_runs[];
extern const char approach_jump_runs[], approach_jump_returning_runs[];

/* RDSSP leaves its register alone where there is no shadow stack. */
static int has_shadow_stack(void)
{
    uint64_t pointer = 0;
    __asm__ __volatile__("rdsspq %0" : "+r"(pointer));
    return pointer != 0;
}

/* A run is no longer than usual where another poll would be too late. */
static void find_runs(const void *runs[APPROACH_RUNS], const char *longest_run)
{
    enum { LONGEST = APPROACH_LONGEST_RUN / 3, USUAL = 56 }; /* links */
    for (int rest = 0; rest < APPROACH_RUNS; rest++)
        runs[rest] = longest_run + (rest << RUN_BITS) + (LONGEST - USUAL) * LINK_BYTES;
}

struct approach_ways approach_ways(void)
{
    struct approach_ways ways = {
        .exact = approach_return,
        .exact_hot = approach_return_hot,
        .fine = {approach_fine_0, approach_fine_1, approach_fine_2},
        .series = {approach_series_0, approach_series_1, approach_series_2},
        .run = approach_run,
        .forget_returns = approach_forget_returns,
        .count = approach_count,
        .foresee = approach_foresee,
        .foresee_return = approach_foresee_return,
        .mechanism = TIMEBASE_MECHANISM_RETURN,
        .poll_bare = approach_poll_bare,
        .poll_never_early = approach_poll_never_early,
    };
    int is_guarded = has_shadow_stack();
    if (is_guarded) {
        ways.exact = approach_jump;
        ways.exact_hot = approach_jump_hot;
        ways.forget_returns = NULL;
        ways.foresee = NULL;
        ways.foresee_return = NULL;
        ways.mechanism = TIMEBASE_MECHANISM_JUMP;
    }
    find_runs(ways.runs, is_guarded ? approach_jump_runs : approach_return_runs);
    find_runs(ways.returning_runs,
              is_guarded ? approach_jump_returning_runs : approach_return_returning_runs);
    return ways;
}

#else
typedef int approach_x86_64_is_elsewhere;
#endif
