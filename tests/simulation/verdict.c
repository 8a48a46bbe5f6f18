/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "verdict.h"

#define SECOND 1e9L
#define BIT(status) (1u << TIMEBASE_STATUS_##status)
#define ALL                                                                                        \
    (BIT(UNKNOWN) | BIT(INITIALIZING) | BIT(SYNCHRONIZED) | BIT(FREERUNNING) | BIT(UNRELIABLE))

/* The servo counts these by a pace that may be 1 % off, and up to two of its intervals late. */
#define LOST_FROM (4.9L * SECOND)
#define LOST_BY (5.3L * SECOND)
#define VOID_FROM (990 * SECOND)
#define VOID_BY (1011 * SECOND)
/* A growth of a nanosecond a tick cannot be told: 10 % of the pace of a slower counter. */
#define TOLD_HZ 1e8
/* So does a pace that is learnt anew, from samples that are wide and close together. */
#define LEARNING 20
/* Holdover is of no use after hours: docs/bound.md. */
#define USELESS_FROM (7 * 3600 * SECOND)

static bool may_be_unknown(const struct world *world)
{
    return world->counter_hz < TOLD_HZ || world->told.quiet < LEARNING ||
        world->now_ns - world->told.kept_ns > VOID_FROM ||
        world->now_ns - world->told.answered_ns > USELESS_FROM;
}

/* Nothing but a rough slope keeps a new clock from its promise. */
static unsigned when_new(const struct told *told)
{
    return BIT(INITIALIZING) | (told->synchronized > 0 ? BIT(SYNCHRONIZED) : BIT(FREERUNNING));
}

/* Down at once, up with care. */
static unsigned when_known(const struct told *told, unsigned last)
{
    if (told->synchronized == 0)
        return BIT(FREERUNNING);
    if (last == TIMEBASE_STATUS_SYNCHRONIZED)
        return BIT(SYNCHRONIZED);
    return BIT(FREERUNNING) | (told->synchronized > 1 ? BIT(SYNCHRONIZED) : 0);
}

/* Between two readings a clock that may be UNKNOWN may have been so, and be new again. */
static unsigned by_samples(const struct verdict *verdict, const struct world *world)
{
    const struct told *told = &world->told;
    bool is_known = verdict->last == TIMEBASE_STATUS_SYNCHRONIZED ||
        verdict->last == TIMEBASE_STATUS_FREERUNNING;
    if (told->quiet < TOLD_QUIET)
        return BIT(UNRELIABLE);
    if (verdict->is_due)
        return BIT(SYNCHRONIZED);
    unsigned known = is_known ? when_known(told, verdict->last) : 0;
    return known | (!is_known || may_be_unknown(world) ? when_new(told) : 0);
}

/* The reference's as long as somebody keeps the lines, and then that of their keeper. */
static unsigned by_silence(unsigned allowed, const struct world *world)
{
    long double unheard_ns = world->told.kept_ns - world->told.answered_ns;
    long double unkept_ns = world->now_ns - world->told.kept_ns;
    long double silent_ns = unheard_ns > unkept_ns ? unheard_ns : unkept_ns;
    if (silent_ns < LOST_FROM || allowed == BIT(UNRELIABLE))
        return allowed;
    return silent_ns < LOST_BY ? allowed | BIT(FREERUNNING) : BIT(FREERUNNING);
}

unsigned verdict_allowed(const struct verdict *verdict, const struct world *world)
{
    const struct told *told = &world->told;
    if (world->page.seq == 0 || world->now_ns - told->kept_ns > VOID_BY)
        return BIT(UNKNOWN);
    unsigned allowed = by_silence(by_samples(verdict, world), world);
    return allowed | (may_be_unknown(world) ? BIT(UNKNOWN) : 0);
}

static void note_wrong(struct verdict *verdict, const struct world *world, unsigned status,
                       unsigned allowed)
{
    const struct told *told = &world->told;
    if (verdict->wrong++ > 0)
        return;
    snprintf(verdict->first_wrong, sizeof verdict->first_wrong,
             "status %u after %u, allowed 0x%x, at %.3Lf s: %u quiet and %u synchronized samples, "
             "the last "
             "%.3Lf s ago, kept %.3Lf s ago",
             status, verdict->last, allowed, world->now_ns / SECOND, told->quiet,
             told->synchronized, (world->now_ns - told->answered_ns) / SECOND,
             (world->now_ns - told->kept_ns) / SECOND);
}

void verdict_judge(struct verdict *verdict, const struct world *world,
                   const struct reading *reading)
{
    unsigned status = reading->instant.flags & TIMEBASE_LINE_STATUS_MASK;
    if (verdict->faulty != world->told.faulty)
        verdict->last = TIMEBASE_STATUS_UNRELIABLE; /* and gone again, perhaps, in one reading */
    verdict->faulty = world->told.faulty;
    unsigned allowed = verdict_allowed(verdict, world);
    if (!(allowed >> status & 1))
        note_wrong(verdict, world, status, allowed);
    verdict->count[status % 5]++;
    /* What lines say by themselves, because nobody keeps them, their keeper need not have said. */
    if (world->now_ns - world->told.kept_ns < LOST_FROM)
        verdict->last = status;
}

void verdict_expect_sound(const struct verdict *verdict, uint64_t seed)
{
    if (verdict->wrong > 0)
        fail_msg("seed %" PRIu64 ": %u statuses that are not allowed; first: %s", seed,
                 verdict->wrong, verdict->first_wrong);
}
