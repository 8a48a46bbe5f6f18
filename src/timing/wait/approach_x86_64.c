/* SPDX-License-Identifier: MIT */
/* Which approach this x86-64 process may use; the offsets that its assembly goes by. */
#ifdef __x86_64__

#include <stddef.h>

#include <timebase/counter.h>
#include <timebase/wait.h>

#include "approach.h"
#include "approach_x86_64_offsets.h"

#define AT(field, offset)                                                                          \
    _Static_assert(offsetof(struct approach, field) == (offset), "in assembly: " #field)
AT(target_ticks, TARGET);
AT(leave_ticks, LEAVE);
AT(not_before_ticks, NOT_BEFORE);
AT(cycles_per_tick, CYCLES_PER_TICK);
AT(fixed_cycles, FIXED);
AT(step_ticks, STEP);
AT(slack_ticks, SLACK);
AT(sample, SAMPLE);
AT(event, EVENT);
AT(argument, ARGUMENT);
AT(rseq, RSEQ);
AT(frame, FRAME);
AT(offsets, OFFSETS);
AT(brief_offsets, BRIEF_OFFSETS);
AT(event_ticks, EVENT_TICKS);
AT(first_ticks, FIRST);
AT(width_ticks, WIDTH);
AT(run, RUN);
AT(gap_ticks, GAP);
AT(marker, MARKER);
AT(rseq_cpu, RSEQ_CPU);
AT(rseq_marker, RSEQ_MARKER);
AT(overdue_cycles, OVERDUE);
AT(late_cycles, LATE);
AT(readings, READINGS);
_Static_assert(APPROACH_LONGEST_RUN == LONGEST_RUN && APPROACH_POLLS == POLLS, "in assembly");
_Static_assert(APPROACH_VERNIER == VERNIER && APPROACH_BRIEF == BRIEF && APPROACH_FINE == FINE,
               "in assembly");

approach_function approach_return_single, approach_return_vernier, approach_return_brief;
approach_function approach_jump_single, approach_jump_vernier, approach_jump_brief;
approach_readings approach_fine_0, approach_fine_5, approach_fine_12;
approach_readings approach_sample_0, approach_sample_5, approach_sample_12;
approach_readings approach_brief_0, approach_brief_5, approach_brief_12;
void approach_run(uint64_t cycles);

/* RDSSP leaves its register alone where there is no shadow stack. */
static int has_shadow_stack(void)
{
    uint64_t pointer = 0;
    __asm__ __volatile__("rdsspq %0" : "+r"(pointer));
    return pointer != 0;
}

void approach_poll_behind(struct approach *approach)
{
    ((struct approach **)approach->frame)[-1] = approach;
}

/* Above the six registers that approach_from() saves. */
const char *approach_returns_to(const void *frame)
{
    return frame != NULL ? ((const char *const *)frame)[6] : NULL;
}

/* Sanitizers want to see each function return. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { MAY_LEAVE = 0 };
#else
enum { MAY_LEAVE = 1 };
#endif

struct approach_ways approach_ways(void)
{
    struct approach_ways ways = {
        .single = approach_return_single,
        .vernier = approach_return_vernier,
        .brief = approach_return_brief,
        .fine = {approach_fine_0, approach_fine_5, approach_fine_12},
        .sample = {approach_sample_0, approach_sample_5, approach_sample_12},
        .few = {approach_brief_0, approach_brief_5, approach_brief_12},
        .run = approach_run,
        .mechanism = TIMEBASE_MECHANISM_RETURN,
        .leaves = MAY_LEAVE,
    };
    if (has_shadow_stack()) {
        ways.single = approach_jump_single;
        ways.vernier = approach_jump_vernier;
        ways.brief = approach_jump_brief;
        ways.mechanism = TIMEBASE_MECHANISM_JUMP;
        ways.leaves = 0;
    }
    return ways;
}

#else
typedef int approach_x86_64_is_elsewhere;
#endif
