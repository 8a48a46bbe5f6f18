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
AT(base_256, 16);
AT(step_256, 20);
AT(table, 24);
AT(event, 32);
AT(argument, 40);
AT(event_ticks, 48);
AT(middle_256, 56);
AT(width_256, 60);
AT(run, 64);
AT(gap_ticks, 68);
AT(marker, 72);
AT(allowed_256, 76);
AT(rseq, 80);
AT(rseq_cpu, 88);
AT(rseq_marker, 96);
AT(not_before_ticks, 104);
AT(longer_quarters, 112);
AT(polls, 116);
AT(polled_ticks, 120);
AT(readings, 128);
AT(offsets_256, 224);
_Static_assert(APPROACH_TABLE_ENTRIES == 512 && APPROACH_LONGEST_RUN == 248, "approach_x86_64.S");
_Static_assert(APPROACH_LONGER == 100, "approach_x86_64.S");
_Static_assert(APPROACH_VERNIER == 16 && APPROACH_FINE == 24, "approach_x86_64.S");

approach_function approach_return_single, approach_return_vernier;
approach_function approach_jump_single, approach_jump_vernier;
void approach_read_vernier(uint32_t readings[APPROACH_FINE]);
void approach_run(uint64_t instructions);

/* RDSSP leaves its register alone where there is no shadow stack. */
static int has_shadow_stack(void)
{
    uint64_t pointer = 0;
    __asm__ __volatile__("rdsspq %0" : "+r"(pointer));
    return pointer != 0;
}

struct approach_ways approach_ways(void)
{
    struct approach_ways ways = {approach_return_single, approach_return_vernier,
                                 approach_read_vernier, approach_run, TIMEBASE_MECHANISM_RETURN};
    if (has_shadow_stack()) {
        ways.single = approach_jump_single;
        ways.vernier = approach_jump_vernier;
        ways.mechanism = TIMEBASE_MECHANISM_JUMP;
    }
    return ways;
}

#else
typedef int approach_x86_64_is_elsewhere;
#endif
