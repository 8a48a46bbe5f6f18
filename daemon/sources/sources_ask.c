/* SPDX-License-Identifier: MIT */
/* Asking them, and what becomes of an answer. */
#include <timebase/error.h>

#include "sources_parts.h"

#define ASK_NS 1000000000
/* A source that has not finished is asked again after this. */
#define BUSY_NS 20000000
/* And one that cannot be opened or does not answer, after this. */
#define RETRY_NS 2000000000

/* vmclock says that the machine was copied, moved or restored. */
static void note_marker(struct sources *sources, uint64_t marker, int64_t mono_ns)
{
    if (marker == 0 || marker == sources->marker)
        return;
    if (sources->marker != 0) {
        sources->disruptions++;
        sources->disrupted_ns = mono_ns;
    }
    sources->marker = marker;
}

/* A driver may date the same measurement differently when it has begun anew. Each date is that of
 * the measurement or earlier, so the latest one is kept. */
static void note_measurement(struct sources *sources, struct source *source, struct claim *claim)
{
    bool knows_utc = claim->error_ns < SOURCES_ERROR_MAX;
    if (claim->measured_ns < source->measured_ns)
        claim->measured_ns = source->measured_ns;
    if (knows_utc)
        source->measured_ns = claim->measured_ns;
    source->is_outdated = knows_utc && claim->measured_ns < sources->disrupted_ns;
}

/* CLOCK_REALTIME may be steered between this answer and the next sample. */
static bool is_steered(const struct claim *claim)
{
    return claim->is_slewed_by_others || claim->is_correcting;
}

/*
 * The claim is from before the step. A driver that asks seldom (chrony with interval=16s) may
 * repeat it for long. Begun anew, the driver asks at once.
 */
static void begin_anew(struct source *source, int64_t mono_ns)
{
    source_close(source);
    source->due_ns = mono_ns + BUSY_NS;
}

static void take(struct sources *sources, struct source *source, struct claim *claim,
                 int64_t mono_ns)
{
    note_marker(sources, claim->disruption_marker, mono_ns);
    note_measurement(sources, source, claim);
    source->has_marker = claim->disruption_marker != 0;
    source->notice = claim->notice;
    if (claim->mono_ns < sources->known_since_ns) {
        begin_anew(source, mono_ns);
        return;
    }
    if (claim->error_ns >= SOURCES_ERROR_MAX) {
        /* It answers, and knows nothing of UTC now. Its claim of before becomes an estimate. */
        source->claim.is_synchronized = false;
        return;
    }
    source->has_claim = !source->is_outdated;
    if (source->is_outdated)
        return;
    /* A leap second is no pace. */
    if (sources->is_leaping && sources_is_leap(source->claim.offset_ns, claim->offset_ns))
        source->departure.has_answer = false;
    if (is_steered(claim))
        departure_take(&source->departure, claim, &sources->slew);
    source->claim = *claim;
}

static void ask(struct sources *sources, struct source *source, int64_t mono_ns)
{
    struct claim claim = {0};
    int error = source->context == NULL ? source_open(source) : TIMEBASE_OK;
    if (error == TIMEBASE_OK) {
        error = source->driver->claim(source->context, &claim);
        source->reason = source_reason(source->context);
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
    take(sources, source, &claim, mono_ns);
}

void sources_ask(struct sources *sources, int64_t mono_ns)
{
    /* Read before the sources are asked: their answers' paces need it, and asking may take time. */
    sources->slew = sources->read_slew();
    for (unsigned i = 0; i < sources->count; i++) {
        struct source *source = &sources->list[i];
        if (source->driver != NULL && source->due_ns <= mono_ns)
            ask(sources, source, mono_ns);
    }
}

void sources_ask_for_sample(struct sources *sources, int64_t mono_ns)
{
    for (unsigned i = 0; i < sources->count; i++) {
        struct source *source = &sources->list[i];
        bool is_steering = source->has_claim && is_steered(&source->claim);
        if (source->is_up && (is_steering || source->has_marker))
            source->due_ns = mono_ns;
    }
    sources_ask(sources, mono_ns);
}

/* -1: it has none now. */
static int fd_of(const struct source *source)
{
    if (source->context == NULL || source->driver->fd == NULL)
        return -1;
    return source->driver->fd(source->context);
}

unsigned sources_fds(const struct sources *sources, int *fds, unsigned size)
{
    unsigned count = 0;
    for (unsigned i = 0; i < sources->count; i++) {
        int fd = fd_of(&sources->list[i]);
        if (fd >= 0 && count++ < size)
            fds[count - 1] = fd;
    }
    return count;
}

void sources_hear(struct sources *sources, int fd, int64_t mono_ns)
{
    for (unsigned i = 0; i < sources->count; i++)
        if (fd_of(&sources->list[i]) == fd)
            ask(sources, &sources->list[i], mono_ns);
}

enum claim_notice sources_notice(const struct sources *sources)
{
    enum claim_notice most = CLAIM_NOTICE_NONE;
    for (unsigned i = 0; i < sources->count; i++)
        if (sources->list[i].is_up && sources->list[i].notice > most)
            most = sources->list[i].notice;
    return most;
}

uint64_t sources_marker(const struct sources *sources)
{
    for (unsigned i = 0; i < sources->count; i++)
        if (sources->list[i].has_marker)
            return sources->marker;
    return 0;
}

int64_t sources_due_ns(const struct sources *sources)
{
    int64_t due_ns = INT64_MAX;
    for (unsigned i = 0; i < sources->count; i++)
        if (sources->list[i].driver != NULL && sources->list[i].due_ns < due_ns)
            due_ns = sources->list[i].due_ns;
    return due_ns;
}

void sources_forget(struct sources *sources, int64_t mono_ns)
{
    sources->known_since_ns = mono_ns;
    sources->selection.is_synchronized = false;
    for (unsigned i = 0; i < sources->count; i++) {
        sources->list[i].has_claim = false;
        sources->list[i].departure.has_answer = false;
        sources->list[i].range.is_known = false;
        sources->list[i].due_ns = mono_ns;
    }
}

void sources_disrupted(struct sources *sources, int64_t mono_ns)
{
    sources->disrupted_ns = mono_ns;
    sources_forget(sources, mono_ns);
}
