/* SPDX-License-Identifier: MIT */
#include "promises.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include <timebase/page.h>

/* Three quiet samples after the one that shows it. */
#define UNRELIABLE_STORES 6
#define UNRELIABLE_NS (15 * SECOND)
/* As in verdict.c; and lines begin, and want renewal, intervals after they were published. */
#define SILENT_SEC 5.3L
#define SILENT_INTERVALS 4
/* SOURCES_FRESH_NS, and lines of before that. */
#define SILENT_SOURCE_NS (13 * SECOND)

static void note_wrong(struct promises *promises, const char *what,
                       const struct timebase_instant *now, double off_ns, double bound_ns)
{
    if (promises->is_loud)
        fprintf(stderr, "%.3f s: %s: flags 0x%" PRIx32 ", off by %.0f of %.0f\n",
                (double)guest.now_ns * 1e-9, what, now->flags, off_ns, bound_ns);
    if (promises->wrong++ > 0)
        return;
    snprintf(promises->first_wrong, sizeof(promises->first_wrong),
             "%s: flags 0x%" PRIx32 ", off by %.0f of %.0f ns, %.3f s after the beginning", what,
             now->flags, off_ns, bound_ns, (double)guest.now_ns * 1e-9);
}

static void allow_unreliable(struct promises *promises)
{
    promises->unreliable_until_ns = guest_mono_ns() + UNRELIABLE_NS;
    promises->unreliable_until_stores = guest.stores + UNRELIABLE_STORES;
}

void promises_happened(struct promises *promises, enum promises_sight sight)
{
    promises->is_parted = true;
    promises->stores = guest.stores;
    if (sight == PROMISES_PARTED && guest.is_running && guest.stores > promises->begun_stores) {
        promises->is_counter_parted = true;
        promises->counter_parted_ns = guest.now_ns;
        allow_unreliable(promises);
        return;
    }
    if (sight == PROMISES_UNSEEN) {
        promises->is_moved_unseen = true;
        promises->moved_ns = promises->ptp_shows_ns = guest.now_ns;
        promises->is_rtc_unread = guest.has_rtc;
        return;
    }
    if (guest.is_running || sight == PROMISES_VOID)
        promises->void_since_ns = guest.now_ns;
    promises->must_be_unreliable |=
        sight == PROMISES_SEEN && guest.is_running && guest.stores > promises->begun_stores;
    allow_unreliable(promises);
}

void promises_stepped(struct promises *promises)
{
    promises->is_parted = true;
    promises->stores = guest.stores;
}

void promises_begun(struct promises *promises, bool is_past_unknown)
{
    bool is_disturbed = promises->is_parted || promises->is_moved_unseen;
    promises->is_past_unknown = is_past_unknown;
    promises->begun_ns = guest.now_ns;
    if (is_disturbed)
        allow_unreliable(promises);
    if (promises->is_counter_parted) /* and the daemon before has taken no sample since */
        promises->void_since_ns = promises->counter_parted_ns;
    promises->is_counter_parted = false;
    promises->must_be_unreliable = false;
    promises->begun_stores = guest.stores;
}

/* Counter and system clock are surely further apart than what A6 takes for a slew. Two happenings
 * between the same two samples may leave less than either of them. */
static bool is_jump(const struct promises *promises)
{
    long double counter_ns = (guest.ticks - promises->stored_ticks) / guest.hz * 1e9L;
    long double parted_ns = fabsl(counter_ns - (guest.mono_ns - promises->stored_mono_ns));
    return counter_ns <= 0 || parted_ns > 2e6L + counter_ns * (0.11L + promises->stored_rate);
}

/* Of the lines in force, per unit of time. */
static double drift_rate(void)
{
    uint32_t per_tick = guest.page.copy[guest.page.seq & 1].after.drift_rate;
    return per_tick / 4294967296.0 * guest.hz * 1e-9;
}

/* A daemon that is kept from running looks at the battery clock late. */
static void learn_of_rtc(struct promises *promises)
{
    if (!promises->is_rtc_unread || guest.rtc_read_ns < promises->moved_ns)
        return;
    promises->is_rtc_unread = false;
    allow_unreliable(promises);
}

/* Of UTC, that the daemon has been told of; true time. */
static int64_t newest_measurement_ns(void)
{
    int64_t polled_ns = guest.chronyd.heard_polled_ns;
    return polled_ns > guest.ptp.heard_ns ? polled_ns : guest.ptp.heard_ns;
}

/* Who has not, and is not silent for 10 s, speaks of before. */
static bool have_all_measured_since(int64_t ns)
{
    bool is_ptp_of_before =
        guest.ptp.heard_ns < ns && guest.ptp.heard_mono_ns + SILENT_SOURCE_NS > guest_mono_ns();
    return newest_measurement_ns() >= ns && !is_ptp_of_before;
}

/* What only the sample shows has been shown; of the rest chronyd has been heard. */
static void learn(struct promises *promises)
{
    if (guest.stores == promises->stores)
        return;
    if (promises->is_counter_parted && is_jump(promises)) {
        promises->void_since_ns = promises->counter_parted_ns;
        promises->must_be_unreliable = true;
    }
    promises->is_counter_parted = false;
    promises->stored_ticks = guest.ticks;
    promises->stored_mono_ns = guest.mono_ns;
    promises->stored_rate = drift_rate();
    promises->is_parted = false;
    promises->stores = guest.stores;
    /* The first page of a daemon that cannot know what was before. */
    if (promises->is_past_unknown && promises->void_since_ns < promises->begun_ns)
        promises->void_since_ns = promises->begun_ns;
    promises->is_moved_unseen &= !promises->is_past_unknown;
    promises->is_past_unknown = false;
    /* If it was silent meanwhile, and chronyd's answers were too wide to show the move. */
    if (promises->ptp_shows_ns != 0 && guest.ptp.heard_ns >= promises->ptp_shows_ns) {
        promises->ptp_shows_ns = 0;
        allow_unreliable(promises);
    }
    if (promises->is_moved_unseen && have_all_measured_since(promises->moved_ns)) {
        promises->is_moved_unseen = false;
        allow_unreliable(promises);
    }
}

static bool is_promised(const struct timebase_instant *now)
{
    return (now->flags & TIMEBASE_LINE_STATUS_MASK) == TIMEBASE_STATUS_SYNCHRONIZED &&
        !(now->flags & TIMEBASE_LINE_ESTIMATE);
}

static bool may_be_unreliable(const struct promises *promises)
{
    return guest_mono_ns() <= promises->unreliable_until_ns || promises->is_moved_unseen ||
        promises->is_rtc_unread ||
        guest.stores <= promises->unreliable_until_stores;
}

static void judge_status(struct promises *promises, const struct timebase_instant *now)
{
    uint32_t status = now->flags & TIMEBASE_LINE_STATUS_MASK;
    bool is_measured = guest.has_utc || newest_measurement_ns() >= promises->void_since_ns;
    long double silent_sec = (guest.ticks - promises->stored_ticks) / guest.hz;
    if (promises->is_parted)
        return;
    if (promises->must_be_unreliable && status != TIMEBASE_STATUS_UNRELIABLE &&
        status != TIMEBASE_STATUS_UNKNOWN)
        note_wrong(promises, "told of a disruption, and not UNRELIABLE", now, 0, 0);
    promises->must_be_unreliable = false;
    if (status == TIMEBASE_STATUS_UNRELIABLE && guest.is_running && !may_be_unreliable(promises))
        note_wrong(promises, "UNRELIABLE for no reason", now, 0, 0);
    if (is_promised(now) && !is_measured)
        note_wrong(promises, "promised by what was measured before", now, 0, 0);
    if (is_promised(now) && silent_sec > SILENT_SEC + SILENT_INTERVALS * promises->interval_sec)
        note_wrong(promises, "promised by a silent daemon", now, 0, 0);
    if (!is_promised(now) && promises->is_due)
        note_wrong(promises, "not promised, and nothing is wrong", now, 0, 0);
}

static void judge_mono(struct promises *promises, const struct timebase_instant *now)
{
    bool is_same = promises->pages == guest.pages;
    if (promises->is_parted)
        return;
    if (is_same && now->mono_ns < promises->last_mono_ns)
        note_wrong(promises, "monotonic time went back", now,
                   (double)(now->mono_ns - promises->last_mono_ns), 0);
    promises->last_mono_ns = now->mono_ns;
    promises->pages = guest.pages;
}

static void judge_bounds(struct promises *promises, const struct timebase_instant *now)
{
    uint32_t status = now->flags & TIMEBASE_LINE_STATUS_MASK;
    double off_ns = (double)((long double)(now->utc_ns - guest.utc_offset_ns) - guest.mono_ns);
    double true_ns = (double)(now->utc_ns - guest_utc_ns());
    if (promises->is_parted)
        return;
    if (status != TIMEBASE_STATUS_UNKNOWN && status != TIMEBASE_STATUS_UNRELIABLE) {
        promises->tightest = fmax(promises->tightest, fabs(off_ns) / (double)now->maxerror_ns);
        if (fabs(off_ns) > (double)now->maxerror_ns)
            note_wrong(promises, "outside maxerror", now, off_ns, (double)now->maxerror_ns);
    }
    if (!is_promised(now) || promises->is_moved_unseen)
        return;
    promises->promised++;
    promises->tightest_true =
        fmax(promises->tightest_true, fabs(true_ns) / (double)now->utc_maxerror_ns);
    if (fabs(true_ns) > (double)now->utc_maxerror_ns)
        note_wrong(promises, "outside utc_maxerror", now, true_ns, (double)now->utc_maxerror_ns);
}

void promises_broken(struct promises *promises, const char *what)
{
    struct timebase_instant now = {0};
    timebase_page_convert(&guest.page, guest_ticks(), &now);
    note_wrong(promises, what, &now, 0, 0);
}

void promises_read(struct promises *promises)
{
    struct timebase_instant now;
    learn_of_rtc(promises);
    learn(promises);
    if (!guest.has_page || !timebase_page_convert(&guest.page, guest_ticks(), &now))
        return;
    promises->readings++;
    promises->unreliable +=
        (now.flags & TIMEBASE_LINE_STATUS_MASK) == TIMEBASE_STATUS_UNRELIABLE;
    judge_mono(promises, &now);
    judge_bounds(promises, &now);
    judge_status(promises, &now);
}
