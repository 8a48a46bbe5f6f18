/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "anchor.h"

#include <sched.h>
#include <stdlib.h>

#include <timebase/counter.h>

#include "skew.h"

/* The narrowest of so many brackets is the point. */
enum { BRACKETS = 16 };
/* Watched for so long, it must run as over all of the time before. */
#define WATCH_NS 500000
#define STOPS_SHARE 0.01
/* Two points so far apart give a pace; after this a new one begins, for crystals wander. */
#define YOUNG_NS 40000000
#define OLD_NS 10000000000
/* By so much the two crystals may part beyond what was measured, and twice what they lately did. */
#define WANDER 1e-6
#define WANDER_MARGIN 2
/* What they did is forgotten by half with each anchor. */
#define WANDER_KEPT 0.5
#define ONE_64 0x1p64

static uint64_t raw_ticks(void)
{
    unsigned cpu;
    return by_cpu_read(&cpu);
}

static struct anchor_point look(void)
{
    struct anchor_point best = {.error_ticks = UINT64_MAX};
    for (int i = 0; i < BRACKETS; i++) {
        uint64_t before = raw_ticks();
        uint64_t os_ns = by_cpu_os_ns(timebase_ticks_os);
        uint64_t width = raw_ticks() - before;
        if (width / 2 + 1 < best.error_ticks)
            best = (struct anchor_point){os_ns, before + width / 2, width / 2 + 1};
    }
    return best;
}

static double pace(const struct anchor_point *from, const struct anchor_point *to, double *share)
{
    double ticks = (double)(int64_t)(to->ticks - from->ticks);
    *share = (double)(to->error_ticks + from->error_ticks) / ticks;
    return ticks / (double)(to->os_ns - from->os_ns);
}

/* An emulator's counter, or a hypervisor's, may gain on the kernel's timer now and then. One that went
 * back has parted from it by all there is. */
static void note_wander(struct anchor *anchor, const struct anchor_point *now)
{
    double passed_ns = (double)(now->os_ns - anchor->last.os_ns);
    double passed = (double)(int64_t)(now->ticks - anchor->last.ticks);
    double parted = passed - passed_ns * anchor->ticks_per_ns;
    double beyond = (parted < 0 ? -parted : parted) -
        (double)(now->error_ticks + anchor->last.error_ticks);
    double seen = passed > 0 ? WANDER_MARGIN * beyond / passed : 1;
    anchor->wander *= WANDER_KEPT;
    anchor->wander = seen > anchor->wander ? seen : anchor->wander;
}

/* growth: ns per ns, below 1. */
static void fill(const struct anchor_point *now, double ticks_per_ns, double growth,
                 struct by_cpu_anchor *out)
{
    uint64_t whole = (uint64_t)ticks_per_ns;
    out->os_ns = now->os_ns;
    out->ticks = now->ticks;
    out->ticks_per_ns = whole;
    out->ticks_per_ns_frac = (uint64_t)((ticks_per_ns - (double)whole) * ONE_64);
    out->error_ns = (uint64_t)((double)now->error_ticks / ticks_per_ns) + 1;
    out->growth = (uint64_t)(growth * ONE_64);
}

static enum anchor_result take(struct anchor *anchor, struct by_cpu_anchor *out)
{
    double share, watched_share;
    struct anchor_point begin = look(), end = begin;
    if (begin.os_ns == BY_CPU_NO_OS)
        return ANCHOR_REFUSED;
    while (end.os_ns - begin.os_ns < WATCH_NS)
        end = look();
    if (!anchor->is_begun) {
        anchor->base = end;
        anchor->is_begun = true;
    }
    if (end.os_ns - anchor->base.os_ns < YOUNG_NS)
        return ANCHOR_TOO_YOUNG;
    double overall = pace(&anchor->base, &end, &share);
    double watched = pace(&begin, &end, &watched_share);
    double doubt = watched * (STOPS_SHARE + watched_share + share);
    if (anchor->ticks_per_ns != 0)
        note_wander(anchor, &end);
    double growth = share + WANDER + anchor->wander;
    if (share < 0 || !(growth < 1) || overall < watched - doubt || overall > watched + doubt) {
        *anchor = (struct anchor){.is_begun = false};
        return ANCHOR_STOPS;
    }
    anchor->last = end;
    anchor->ticks_per_ns = overall;
    fill(&end, overall, growth, out);
    if (end.os_ns - anchor->base.os_ns > OLD_NS)
        anchor->base = end;
    return ANCHOR_TAKEN;
}

enum anchor_result anchor_take(struct anchor *anchor, int reference_cpu, struct by_cpu_anchor *out)
{
    enum anchor_result result = ANCHOR_REFUSED;
    size_t size = CPU_ALLOC_SIZE(SKEW_CPUS);
    cpu_set_t *kept = CPU_ALLOC(SKEW_CPUS), *one = CPU_ALLOC(SKEW_CPUS);
    if (kept != NULL && one != NULL && sched_getaffinity(0, size, kept) == 0) {
        CPU_ZERO_S(size, one);
        CPU_SET_S(reference_cpu, size, one);
        if (sched_setaffinity(0, size, one) == 0) {
            result = take(anchor, out);
            sched_setaffinity(0, size, kept);
        }
    }
    if (kept != NULL)
        CPU_FREE(kept);
    if (one != NULL)
        CPU_FREE(one);
    return result;
}
