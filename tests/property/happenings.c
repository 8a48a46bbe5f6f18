/* SPDX-License-Identifier: MIT */
#include "happenings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "watch.h"

#define MILLISECOND 1e6

struct life {
    struct world world;
    struct verdict *verdict;
    double own_hz; /* the oscillator's before it strays */
    bool is_blind; /* something has happened that only the next sample can show */
    uint64_t sampled;
};

static struct watch watch;

static uint64_t samples(const struct life *life)
{
    return (uint64_t)life->world.servo.sampled_ns;
}

/* A reading after a sample is one that could know. */
static void read_once(struct life *life)
{
    watch.is_excused = life->is_blind;
    struct reading reading = watch_read(&watch, &life->world);
    if (samples(life) != life->sampled)
        life->is_blind = false;
    life->verdict->readings++;
    life->verdict->promised += watch_is_promised(&reading) && !watch.is_excused;
}

static void blind(struct life *life)
{
    life->is_blind = true;
    life->sampled = samples(life);
}

static void step(struct life *life, double ns)
{
    life->world.utc_offset_ns += (int64_t)ns;
    blind(life);
}

static void slew(struct life *life, double ppm)
{
    life->world.reference_rate = 1 + ppm * 1e-6;
    life->world.claim_ppb = (uint32_t)((ppm < 0 ? -ppm : ppm) * 1000) + 1;
}

static void happen(struct life *life, const struct happening *it)
{
    struct world *world = &life->world;
    switch (it->kind) {
    case HAPPENING_PASS:
        world_advance(world, it->value);
        read_once(life);
        break;
    case HAPPENING_READ:
        for (int i = 0; i < (int)it->value; i++) {
            world_advance(world, MILLISECOND);
            read_once(life);
        }
        break;
    case HAPPENING_SLEW:
        slew(life, it->value);
        break;
    case HAPPENING_DRIFT:
        world->counter_hz = life->own_hz * (1 + it->value * 1e-6);
        break;
    case HAPPENING_STEP:
        step(life, it->value);
        break;
    case HAPPENING_SUSPEND:
        world_suspend(world, it->value);
        blind(life);
        break;
    case HAPPENING_LOSE:
        world->lost_share = it->value;
        break;
    case HAPPENING_BRACKET:
        world->bracket_ns = it->value;
        break;
    case HAPPENING_DISTURB:
        world->disturbed_share = it->value;
        world->disturbance_ns = 1e5;
        break;
    case HAPPENING_BIAS:
        world->claim_bias_ns = it->value * world->claim_error_ns;
        break;
    case HAPPENING_SYNCHRONIZED:
        world->is_unsynchronized = it->value == 0;
        break;
    case HAPPENING_JUMP:
        world->counter_origin += (uint64_t)(int64_t)it->value;
        blind(life);
        read_once(life);
        break;
    }
}

void happenings_live(uint64_t seed, double counter_hz, double claim_error_ns,
                     const struct happening *list, int count, struct verdict *verdict)
{
    static const struct watch fresh;
    static const struct verdict nothing;
    struct life life = {.world = world_make(seed), .verdict = verdict, .own_hz = counter_hz};
    watch = fresh;
    *verdict = nothing;
    life.world.counter_hz = counter_hz;
    life.world.claim_error_ns = claim_error_ns;
    for (int i = 0; i < count; i++)
        happen(&life, &list[i]);
    verdict->backwards = watch.backwards;
    verdict->outside = watch.outside;
    verdict->untrue = watch.untrue;
    verdict->tightest_share = watch.tightest_share;
    verdict->tightest_true = watch.tightest_true;
}
