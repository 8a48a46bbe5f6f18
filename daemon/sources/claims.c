/* SPDX-License-Identifier: MIT */
#include "claims.h"

#include <stdlib.h>
#include <string.h>

#include <timebase/error.h>

#include "saturate.h"

#define ASK_NS 1000000000
/* One that is still at it is looked at again after this. */
#define BUSY_NS 20000000
/* One that cannot be opened or does not answer. */
#define RETRY_NS 2000000000
/* Errors stop here, far below where sums wrap: 2^60 ns are 36 years. */
#define ERROR_MAX ((uint64_t)1 << 60)

void claims_set_up(struct claims *claims, const struct settings *settings)
{
    static const struct claims none;
    *claims = none;
    claims->count = settings->reference_count;
    if (claims->count == 0) {
        /* Nobody else is asked: the kernel's word, as the sample brings it. */
        memcpy(claims->sources[0].name, "kernel", sizeof("kernel"));
        claims->count = 1;
    }
    claims->drift_ppb = settings->drift_ppb;
    claims->known_since_ns = INT64_MIN;
    for (unsigned i = 0; i < settings->reference_count; i++) {
        struct claims_source *source = &claims->sources[i];
        memcpy(source->name, settings->references[i], sizeof(source->name));
        char *colon = strchr(source->name, ':');
        size_t length = colon != NULL ? (size_t)(colon - source->name) : strlen(source->name);
        source->argument = colon != NULL ? colon + 1 : NULL;
        source->driver = reference_source_named(source->name, length);
    }
}

static void close_source(struct claims_source *source)
{
    if (source->context == NULL)
        return;
    source->driver->close(source->context);
    free(source->context);
    source->context = NULL;
}

/* A driver without anything to remember still gets an address. */
static int open_source(struct claims_source *source)
{
    void *context = calloc(1, source->driver->context_size + 1);
    source->context = context;
    source->reason = "no memory";
    if (context == NULL)
        return TIMEBASE_E_REFERENCE;
    int error = source->driver->open(context, source->argument);
    source->reason = reference_reason(context);
    if (error != TIMEBASE_OK)
        close_source(source);
    return error;
}

static int name_fault(const struct settings *settings, unsigned which, const char *file,
                      const char *reason, struct problem *problem)
{
    const char *reference = settings->references[which];
    unsigned line = settings->reference_lines[which];
    if (line == 0)
        return problem_set(problem, "--reference: %s: %s", reference, reason);
    return problem_set(problem, "%.200s:%u: reference: %s: %s", file, line, reference, reason);
}

int claims_check(const struct settings *settings, const char *file, struct problem *problem)
{
    static struct claims claims; /* not for the stack; one thread reads configurations */
    int result = 0;
    claims_set_up(&claims, settings);
    for (unsigned i = 0; i < settings->reference_count && result == 0; i++)
        if (open_source(&claims.sources[i]) == TIMEBASE_E_INVALID)
            result = name_fault(settings, i, file, claims.sources[i].reason, problem);
    claims_close(&claims);
    return result;
}

/* vmclock says that the machine was copied, moved or restored. */
static void note_marker(struct claims *claims, uint64_t marker)
{
    if (marker == 0 || marker == claims->marker)
        return;
    claims->disruptions += claims->marker != 0;
    claims->marker = marker;
}

/*
 * It was asked before the step, and answers after it. A driver may go on saying so for long (chrony
 * asks every 16 s): begun anew, it asks at once.
 */
static void begin_anew(struct claims_source *source, int64_t mono_ns)
{
    close_source(source);
    source->due_ns = mono_ns + BUSY_NS;
}

static void take(struct claims *claims, struct claims_source *source,
                 const struct reference_claim *claim, int64_t mono_ns)
{
    note_marker(claims, claim->disruption_marker);
    if (claim->mono_ns < claims->known_since_ns) {
        begin_anew(source, mono_ns);
        return;
    }
    if (claim->error_ns >= ERROR_MAX) {
        /* It is up, and knows nothing of UTC: what it said before is no more than an estimate. */
        source->claim.is_synchronized = false;
        return;
    }
    source->claim = *claim;
    source->has_claim = true;
}

static void ask(struct claims *claims, struct claims_source *source, int64_t mono_ns)
{
    struct reference_claim claim = {0};
    int error = source->context == NULL ? open_source(source) : TIMEBASE_OK;
    if (error == TIMEBASE_OK) {
        error = source->driver->claim(source->context, &claim);
        source->reason = reference_reason(source->context);
    }
    if (error == TIMEBASE_E_BUSY) {
        source->due_ns = mono_ns + BUSY_NS;
        return;
    }
    source->error = error;
    source->is_up = error == TIMEBASE_OK;
    source->due_ns = mono_ns + (source->is_up ? ASK_NS : RETRY_NS);
    if (!source->is_up)
        return;
    source->answered_ns = mono_ns;
    take(claims, source, &claim, mono_ns);
}

void claims_ask(struct claims *claims, int64_t mono_ns)
{
    for (unsigned i = 0; i < claims->count; i++) {
        struct claims_source *source = &claims->sources[i];
        if (source->driver != NULL && source->due_ns <= mono_ns)
            ask(claims, source, mono_ns);
    }
}

void claims_ask_for_sample(struct claims *claims, int64_t mono_ns)
{
    for (unsigned i = 0; i < claims->count; i++) {
        struct claims_source *source = &claims->sources[i];
        if (source->is_up && source->has_claim && source->claim.is_slewed_by_others)
            source->due_ns = mono_ns;
    }
    claims_ask(claims, mono_ns);
}

int64_t claims_due_ns(const struct claims *claims)
{
    int64_t due_ns = INT64_MAX;
    for (unsigned i = 0; i < claims->count; i++)
        if (claims->sources[i].driver != NULL && claims->sources[i].due_ns < due_ns)
            due_ns = claims->sources[i].due_ns;
    return due_ns;
}

void claims_forget(struct claims *claims, int64_t mono_ns)
{
    claims->known_since_ns = mono_ns;
    for (unsigned i = 0; i < claims->count; i++) {
        claims->sources[i].has_claim = false;
        claims->sources[i].due_ns = mono_ns;
    }
}

/* A distance; above what fits, as large as may be. */
static uint64_t capped(uint64_t size_ns)
{
    return size_ns < ERROR_MAX ? size_ns : ERROR_MAX;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

uint64_t claims_error_ns(const struct claims *claims, const struct reference_claim *claim,
                         int64_t mono_ns)
{
    int64_t low_ns, high_ns;
    reference_claim_ends(claim, mono_ns, claims->drift_ppb, &low_ns, &high_ns);
    return capped(larger(saturate_distance(claim->offset_ns, low_ns),
                         saturate_distance(high_ns, claim->offset_ns)));
}

/* The kernel's word as a claim: its clock is right within maxerror. */
static void take_kernel(struct claims_source *source, const struct discipline_sample *sample)
{
    struct reference_claim claim = {0};
    claim.mono_ns = sample->mono_ns;
    claim.error_ns = (uint64_t)sample->maxerror_ns;
    claim.growth_ppb = sample->maxerror_ppb;
    claim.flags = sample->flags;
    claim.is_synchronized = sample->is_synchronized;
    source->claim = claim;
    source->answered_ns = sample->mono_ns;
    source->has_claim = true;
    source->is_up = true;
}

/* Those that have something to say, and which source said each. */
struct ballot {
    struct reference_claim claims[AGREE_CLAIMS];
    struct claims_source *sources[AGREE_CLAIMS];
    unsigned count;
};

/* The kernel's word lacks a term (kernel_claim.c). */
static bool is_estimate(const struct claims_source *source)
{
    return source->driver == NULL || source->driver->is_estimate;
}

/* Somebody who is believed, and not a liar, says a bound. */
static bool has_bound(const struct ballot *ballot)
{
    for (unsigned i = 0; i < ballot->count; i++)
        if (ballot->claims[i].is_synchronized && !ballot->sources[i]->is_liar &&
            !is_estimate(ballot->sources[i]))
            return true;
    return false;
}

/* Estimates vote only where nobody has a bound. */
static void silence_estimates(struct ballot *ballot)
{
    bool is_any_bound = has_bound(ballot);
    for (unsigned i = 0; i < ballot->count && is_any_bound; i++)
        if (is_estimate(ballot->sources[i]))
            ballot->claims[i].is_synchronized = false;
}

static void collect(struct claims *claims, const struct discipline_sample *sample,
                    struct ballot *ballot)
{
    ballot->count = 0;
    for (unsigned i = 0; i < claims->count; i++) {
        struct claims_source *source = &claims->sources[i];
        source->is_liar = false;
        if (source->driver == NULL)
            take_kernel(source, sample);
        if (!source->has_claim)
            continue;
        struct reference_claim claim = source->claim;
        if (sample->mono_ns - source->answered_ns > CLAIMS_FRESH_NS)
            claim.is_synchronized = false;
        ballot->sources[ballot->count] = source;
        ballot->claims[ballot->count++] = claim;
    }
    silence_estimates(ballot);
}

/* Nobody is believed, so everybody is provided for. */
static uint64_t widest(const struct claims *claims, const struct ballot *ballot,
                       const struct discipline_sample *sample)
{
    uint64_t most = (uint64_t)sample->maxerror_ns;
    for (unsigned i = 0; i < ballot->count; i++) {
        int64_t low_ns, high_ns;
        reference_claim_ends(&ballot->claims[i], sample->mono_ns, claims->drift_ppb, &low_ns,
                             &high_ns);
        most = larger(most, larger(saturate_abs(low_ns), saturate_abs(high_ns)));
    }
    return capped(most);
}

/*
 * The bound's growth until the next sample: as the fastest of those who hold it up, for any of them
 * may be the one that ends it. The discipline adds the oscillator's allowance.
 */
static uint32_t growth_ppb(const struct ballot *ballot, const struct agreement *agreement)
{
    uint32_t growth = 0;
    for (unsigned i = 0; i < ballot->count; i++) {
        const struct reference_claim *claim = &ballot->claims[i];
        bool has_voted = claim->is_synchronized || !agreement->is_synchronized;
        if (has_voted && !(agreement->liars >> i & 1) && claim->growth_ppb > growth)
            growth = claim->growth_ppb;
    }
    return growth;
}

/* TAI and leap seconds from those that agree, where the kernel has not been told. */
static void add_flags(const struct ballot *ballot, struct discipline_sample *sample)
{
    const uint32_t leaps = TIMEBASE_LINE_LEAP_INSERT | TIMEBASE_LINE_LEAP_DELETE;
    const uint32_t kept = leaps | TIMEBASE_LINE_ESTIMATE;
    for (unsigned i = 0; i < ballot->count; i++) {
        uint32_t flags = ballot->claims[i].flags;
        if (ballot->sources[i]->is_liar || !ballot->claims[i].is_synchronized)
            continue;
        if (!(sample->flags & TIMEBASE_LINE_TAI_VALID) && (flags & TIMEBASE_LINE_TAI_VALID))
            sample->flags = (sample->flags & kept) | (flags & ~kept);
        if (!(sample->flags & leaps))
            sample->flags |= flags & leaps;
    }
}

void claims_apply(struct claims *claims, struct discipline_sample *sample)
{
    static const struct agreement none;
    struct ballot ballot;
    collect(claims, sample, &ballot);
    sample->flags |= TIMEBASE_LINE_ESTIMATE;
    claims->agreement = none;
    if (ballot.count == 0) {
        /* The kernel's word is an estimate, and not who was asked to vouch for UTC. */
        sample->is_synchronized = false;
        return;
    }
    claims->agreement = agree(ballot.claims, ballot.count, sample->mono_ns, claims->drift_ppb);
    const struct agreement *agreement = &claims->agreement;
    sample->maxerror_ppb = growth_ppb(&ballot, agreement);
    if (!agreement->is_reached) {
        sample->maxerror_ns = (int64_t)widest(claims, &ballot, sample);
        sample->is_synchronized = false;
        return;
    }
    for (unsigned i = 0; i < ballot.count; i++)
        ballot.sources[i]->is_liar = agreement->liars >> i & 1;
    uint64_t low = saturate_abs(agreement->low_ns), high = saturate_abs(agreement->high_ns);
    sample->maxerror_ns = (int64_t)capped(larger(low, high));
    sample->is_synchronized = agreement->is_synchronized;
    add_flags(&ballot, sample);
    if (has_bound(&ballot))
        sample->flags &= ~TIMEBASE_LINE_ESTIMATE;
}

void claims_close(struct claims *claims)
{
    for (unsigned i = 0; i < claims->count; i++)
        close_source(&claims->sources[i]);
    claims->count = 0;
}
