/* SPDX-License-Identifier: MIT */
#include "world.h"

#include <math.h>

#include <timebase/error.h>

/* What the slow path itself takes, from the sample to the publication. */
#define WORK_NS 800

double world_random(struct world *world)
{
    /* splitmix64 (Vigna): every seed is a good one. */
    uint64_t z = world->seed += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

struct world world_make(uint64_t seed)
{
    struct world world = {0};
    world.counter_origin = 1000000007;
    world.counter_hz = 2600007800.0;
    world.reference_ns = 5e9;
    world.reference_rate = 1.0;
    world.utc_offset_ns = 1790000000000000000;
    world.utc_epoch_ns = world.utc_offset_ns + 5000000000;
    world.claim_error_ns = 1000000;
    world.bracket_ns = 40;
    world.seed = seed;
    world.told.quiet = TOLD_QUIET; /* nothing has been wrong yet */
    world.page.magic = TIMEBASE_PAGE_MAGIC;
    world.page.size = TIMEBASE_PAGE_SIZE;
    world.page.version = TIMEBASE_PAGE_VERSION;
    return world;
}

static void wander(struct world *world, double ns)
{
    if (world->wander_ppm == 0)
        return;
    double step_ppm = (world_random(world) * 2 - 1) * world->wander_ppm * sqrt(ns * 1e-9);
    world->counter_hz *= 1 + step_ppm * 1e-6;
}

void world_advance(struct world *world, double ns)
{
    wander(world, ns);
    world->now_ns += ns;
    world->ticks += ns * world->counter_hz * 1e-9;
    world->reference_ns += ns * world->reference_rate;
}

void world_suspend(struct world *world, double ns)
{
    world->now_ns += ns;
    world->ticks += ns * world->counter_hz * 1e-9;
    world->suspended_ns += (int64_t)ns;
    world->utc_offset_ns += (int64_t)ns;
    world->told.is_faulty = true;
}

void world_jump(struct world *world, int64_t ticks)
{
    world->counter_origin += (uint64_t)ticks;
    world->told.is_faulty = true;
}

void world_move(struct world *world)
{
    servo_disrupt(&world->servo);
    world->told.is_faulty = true;
    world->told.is_moved = true;
}

uint64_t world_ticks(const struct world *world)
{
    uint64_t ticks = world->counter_origin + (uint64_t)(int64_t)floorl(world->ticks);
    uint64_t shown = ticks + world->cpu_ticks;
    return world->step_ticks > 1 ? shown - shown % world->step_ticks : shown;
}

double world_realtime_error_ns(const struct world *world)
{
    int64_t epoch_ns = world->utc_offset_ns - world->utc_epoch_ns;
    return (double)(epoch_ns + (world->reference_ns - world->now_ns));
}

/* To any CPU. */
static void migrate(struct world *world)
{
    if (world->spread_ticks > 0)
        world->cpu_ticks = (uint64_t)(world_random(world) * (double)(world->spread_ticks + 1));
}

static int64_t reference_shows(const struct world *world)
{
    int64_t ns = (int64_t)floorl(world->reference_ns);
    return world->reference_step_ns > 1 ? ns - ns % (int64_t)world->reference_step_ns : ns;
}

/* The reference is read somewhere in the bracket; an interruption makes one side of it long. */
static bool take_sample(struct world *world, struct discipline_sample *sample)
{
    double first = world->bracket_ns * (0.45 + 0.1 * world_random(world));
    double second = world->bracket_ns - first;
    if (world_random(world) < world->disturbed_share) {
        double extra = world->disturbance_ns * world_random(world);
        if (world_random(world) < 0.5)
            first += extra;
        else
            second += extra;
    }
    struct discipline_sample empty = {0};
    *sample = empty;
    sample->step_ticks = world->step_ticks;
    sample->spread_ticks = world->spread_ticks;
    sample->reference_step_ns = world->reference_step_ns;
    migrate(world);
    sample->ticks_before = world_ticks(world);
    world_advance(world, first);
    sample->mono_ns = reference_shows(world);
    double claim_ns = fabs(world_realtime_error_ns(world) + world->claim_bias_ns);
    world_advance(world, second);
    migrate(world);
    sample->ticks_after = world_ticks(world);
    sample->utc_offset_ns = world->utc_offset_ns;
    sample->suspended_ns = world->suspended_ns;
    sample->maxerror_ns = (int64_t)(claim_ns + world->claim_error_ns) + 1;
    sample->maxerror_ppb = world->claim_ppb;
    sample->slew_limit_ppm = world->slew_limit_ppm;
    sample->flags = world->claim_flags;
    sample->is_synchronized = !world->is_unsynchronized;
    return world_random(world) >= world->lost_share;
}

static void count_events(struct world *world, unsigned events)
{
    world->events |= events;
    for (int bit = 0; bit < 32; bit++)
        world->event_count[bit] += events >> bit & 1;
}

static uint64_t ticks(void *context)
{
    return world_ticks(context);
}

static void note_told(struct world *world, const struct discipline_sample *sample)
{
    struct told *told = &world->told;
    bool is_bad = told->is_faulty || sample->flags & TIMEBASE_LINE_COUNTER_DISTRUSTED;
    told->answered_ns = world->now_ns;
    told->is_faulty = false;
    told->is_moved = false;
    told->faulty += is_bad;
    told->quiet = is_bad ? 0 : told->quiet + 1;
    told->synchronized = sample->is_synchronized ? told->synchronized + 1 : 0;
}

/*
 * A move is known without a sample, and the kernel's distrust comes with one that failed; the first
 * that is answered after it is none of the quiet.
 */
static void note_told_without_sample(struct world *world, const struct discipline_sample *failed)
{
    struct told *told = &world->told;
    if (!told->is_moved && !(failed->flags & TIMEBASE_LINE_COUNTER_DISTRUSTED))
        return;
    told->is_moved = false;
    told->faulty++;
    told->quiet = 0;
}

/* The work between the sample and the publication begins here, too. */
static int sample(void *context, struct discipline_sample *out)
{
    struct world *world = context;
    bool is_taken = take_sample(world, out);
    if (is_taken)
        note_told(world, out);
    else
        note_told_without_sample(world, out);
    world_advance(world, WORK_NS);
    return is_taken ? TIMEBASE_OK : TIMEBASE_E_REFERENCE;
}

/* As the library's slow path does. False if there was no sample. */
static bool maintain(struct world *world)
{
    const struct servo_outside outside = {
        .context = world,
        .ticks = ticks,
        .sample = sample,
        .page = &world->page,
        .cadence = cadence_own(world->is_manual),
    };
    enum servo_result result = servo_step(&world->servo, &outside);
    count_events(world, world->servo.events);
    world->told.kept_ns = world->now_ns;
    return result != SERVO_NO_REFERENCE;
}

void world_maintain(struct world *world)
{
    maintain(world);
}

static bool has_current_line(const struct world *world)
{
    const struct timebase_lines *lines = &world->page.copy[world->page.seq & 1];
    uint64_t d;
    return world->page.seq != 0 &&
        timebase_page_line_now(lines, world_ticks(world), world->page.refresh_ticks, &d) != NULL;
}

/* Until there are current lines; where there is no reference, the overdue ones go on. */
static void renew(struct world *world)
{
    for (int i = 0; i < 1000 && !has_current_line(world); i++) {
        bool has_sample = maintain(world);
        if (world->page.seq == 0)
            world_advance(world, 600000);
        else if (!has_sample)
            return;
    }
}

struct reading world_read(struct world *world)
{
    struct reading reading = {0}; /* without lines: 0 and UNKNOWN, as the library has it */
    if (!world->is_abandoned)
        renew(world);
    migrate(world);
    timebase_page_convert(&world->page, world_ticks(world), &reading.instant);
    /* The reader wants the time of the reading, not that of the tick's beginning. */
    reading.mono_error_ns = (double)(reading.instant.mono_ns - world->reference_ns);
    reading.utc_error_ns = reading.mono_error_ns +
        (double)(reading.instant.utc_ns - reading.instant.mono_ns - world->utc_offset_ns);
    reading.true_error_ns = reading.utc_error_ns + world_realtime_error_ns(world);
    return reading;
}
