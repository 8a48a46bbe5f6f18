/* SPDX-License-Identifier: MIT */
/*
 * maintain: the servo of a clock of one's own. The reader that comes first to the slow path runs
 * it, or a housekeeping thread.
 */
#include "own.h"

#include "clock/counter/by_cpu.h"
#include "clock/page/publish.h"

#include <timebase/error.h>

static uint64_t ticks(void *context)
{
    (void)context;
    return timebase_ticks_ordered();
}

/* For the next publication; without a sample that is of the lines before it. */
static void note_suspended(struct own_clock *own, const struct discipline_sample *sample)
{
    uint64_t seq = timebase_page_word(&cell_lines_page(&own->cell)->seq);
    uint64_t present = timebase_page_word(&own->suspended_ns[seq & 1]);
    /* A reader still at this word, whose lines are of two numbers ago, must find out: answer.c. */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    publish_word(&own->suspended_ns[(seq + 1) & 1],
                 sample == NULL ? present : (uint64_t)sample->suspended_ns);
}

static int sample(void *context, struct discipline_sample *out)
{
    struct own_clock *own = context;
    int error = own->reference->sample(own->reference_context, out);
    out->spread_ticks += counter_spread();
    note_suspended(own, error == TIMEBASE_OK ? out : NULL);
    return error;
}

struct servo_outside own_outside(struct own_clock *own, struct timebase_page *page)
{
    int maintenance = __atomic_load_n(&own->cell.maintenance, __ATOMIC_RELAXED);
    struct servo_outside outside = {
        .context = own,
        .ticks = ticks,
        .sample = sample,
        .page = page,
        .cadence = cadence_own(maintenance == TIMEBASE_MAINTENANCE_MANUAL),
    };
    return outside;
}

int own_maintain(struct clock_cell *cell)
{
    struct own_clock *own = own_of(cell);
    const struct servo_outside outside = own_outside(own, cell_lines_page(cell));
    switch (servo_step(&own->servo, &outside)) {
    case SERVO_TOO_EARLY:
        return TIMEBASE_E_BUSY;
    case SERVO_NO_REFERENCE:
        return TIMEBASE_E_REFERENCE;
    default:
        return TIMEBASE_OK;
    }
}
