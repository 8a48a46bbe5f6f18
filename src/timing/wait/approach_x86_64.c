/* SPDX-License-Identifier: MIT */
/* Which approach this x86-64 process may use; the offsets that approach_x86_64.S goes by. */
#ifdef __x86_64__

#include <stddef.h>

#include <timebase/counter.h>
#include <timebase/wait.h>

#include "approach.h"

#define AT(field, offset)                                                                          \
    _Static_assert(offsetof(struct approach, field) == (offset), "approach_x86_64.S: " #field)
AT(target_ticks, 0);
AT(leave_ticks, 8);
AT(not_before_ticks, 16);
AT(cycles_per_tick, 24);
AT(fixed_cycles, 28);
AT(step_ticks, 32);
AT(slack_ticks, 36);
AT(sample, 40);
AT(event, 48);
AT(argument, 56);
AT(rseq, 64);
AT(frame, 72);
AT(offsets, 80);
AT(event_ticks, 144);
AT(first_ticks, 152);
AT(width_ticks, 156);
AT(run, 160);
AT(gap_ticks, 164);
AT(marker, 168);
AT(rseq_cpu, 172);
AT(rseq_marker, 176);
AT(overdue_cycles, 184);
AT(late_cycles, 188);
AT(readings, 192);
_Static_assert(APPROACH_LONGEST_RUN == 242, "approach_x86_64.S");
_Static_assert(APPROACH_VERNIER == 16 && APPROACH_BRIEF == 8 && APPROACH_FINE == 32,
               "approach_x86_64.S");

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
