/* SPDX-License-Identifier: MIT */
/*
 * Any 640 bytes as a page. No conversion traps or reads elsewhere; what validation lets through is
 * converted exactly as spec/page.md says, and back.
 *
 * Input: how to mend the page (bit 0: its head, bit 1: its ranges and order), a tick, a time, the
 * page; zeros if it is shorter.
 *
 * fuzz-runs: 200000
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <timebase/clock.h>
#include <timebase/error.h>
#include <timebase/page.h>

#include "target.h"

#define PERIOD_MAX_NS 1000
#define ERROR_MAX_NS ((uint64_t)1 << 62)
#define NOT_NEGATIVE (UINT64_MAX >> 1)

struct input {
    uint8_t how;
    uint64_t ticks;
    int64_t target_ns;
    struct timebase_page page;
};

enum { MEND_HEAD = 1, MEND_RANGES = 2 };

static struct input input;

/* ---- the input */

static void mend_line(struct timebase_line *line)
{
    line->period_ns %= PERIOD_MAX_NS + 1;
    line->period_frac |= line->period_ns == 0;
    line->flags &= ~(TIMEBASE_LINE_STATUS_MASK & ~3u);
    line->mono_ns &= NOT_NEGATIVE;
    line->maxerror_ns %= ERROR_MAX_NS + 1;
    line->utc_maxerror_ns %= ERROR_MAX_NS + 1;
}

static void mend_validity(struct timebase_validity *validity, uint64_t refresh_ticks)
{
    uint64_t room = TIMEBASE_PAGE_NEVER - refresh_ticks; /* not 0 */
    uint64_t silent = validity->silent_ticks % room, later = validity->void_ticks % room;
    validity->silent_ticks = refresh_ticks + 1 + (silent < later ? silent : later);
    validity->void_ticks = refresh_ticks + 1 + (silent < later ? later : silent);
    validity->before_esterror_ns %= ERROR_MAX_NS + 1;
    validity->slew_esterror_ns %= ERROR_MAX_NS + 1;
    validity->after_esterror_ns %= ERROR_MAX_NS + 1;
}

static void mend_ranges(struct timebase_page *page)
{
    struct timebase_lines *lines = &page->copy[page->seq & 1];
    page->refresh_ticks &= NOT_NEGATIVE;
    mend_line(&lines->before);
    mend_line(&lines->slew);
    mend_line(&lines->after);
    mend_validity(&lines->validity, page->refresh_ticks);
    uint64_t to_slew = (lines->slew.start_ticks - lines->before.start_ticks) & NOT_NEGATIVE;
    uint64_t to_after = (lines->after.start_ticks - lines->slew.start_ticks) & NOT_NEGATIVE;
    lines->slew.start_ticks = lines->before.start_ticks + to_slew;
    lines->after.start_ticks = lines->slew.start_ticks + to_after;
}

static void take(void *to, size_t size, const uint8_t **data, size_t *left)
{
    size_t length = size < *left ? size : *left;
    memset(to, 0, size);
    if (length > 0)
        memcpy(to, *data, length);
    *data += length;
    *left -= length;
}

static void parse(const uint8_t *data, size_t size)
{
    take(&input.how, sizeof(input.how), &data, &size);
    take(&input.ticks, sizeof(input.ticks), &data, &size);
    take(&input.target_ns, sizeof(input.target_ns), &data, &size);
    take(&input.page, sizeof(input.page), &data, &size);
    if (input.how & MEND_HEAD) {
        input.page.magic = TIMEBASE_PAGE_MAGIC;
        input.page.size = TIMEBASE_PAGE_SIZE;
        input.page.version = TIMEBASE_PAGE_VERSION;
        input.page.incompatible = 0;
        input.page.seq += (uint32_t)input.page.seq == 0; /* a number that no writer uses */
    }
    if (input.how & MEND_RANGES)
        mend_ranges(&input.page);
}

/* ---- what spec/page.md says */

static const struct timebase_line *line_for(const struct timebase_lines *lines, uint64_t ticks)
{
    if ((int64_t)(ticks - lines->after.start_ticks) >= 0)
        return &lines->after;
    return (int64_t)(ticks - lines->slew.start_ticks) >= 0 ? &lines->slew : &lines->before;
}

/* The status that the line has, or what is left of it when nobody has renewed the page. */
static uint32_t flags_at(const struct timebase_lines *lines, const struct timebase_line *line,
                         uint64_t ticks)
{
    uint32_t status = line->flags % 16;
    int64_t since = (int64_t)(ticks - lines->after.start_ticks);
    if (since >= 0 && (uint64_t)since >= lines->validity.void_ticks)
        return line->flags - status;
    if (since >= 0 && (uint64_t)since >= lines->validity.silent_ticks)
        return line->flags - status + (status == 1 || status == 2 ? 3 : status);
    return line->flags;
}

#if defined(__SIZEOF_INT128__)
__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;

static uint64_t growth(int64_t d, uint32_t rate)
{
    uint64_t distance = d < 0 ? -(uint64_t)d : (uint64_t)d;
    return (uint64_t)((unsigned_wide)distance * rate >> 32);
}

static uint64_t esterror_start(const struct timebase_lines *lines, const struct timebase_line *line)
{
    const struct timebase_validity *validity = &lines->validity;
    return line == &lines->before ? validity->before_esterror_ns
        : line == &lines->slew    ? validity->slew_esterror_ns
                                  : validity->after_esterror_ns;
}

/* The formulas of "What a line says", in exact integers. */
static void expect_exact(const struct timebase_lines *lines, const struct timebase_line *line,
                         const struct timebase_instant *instant)
{
    int64_t d = (int64_t)(instant->ticks - line->start_ticks);
    uint64_t fraction = (uint64_t)((wide)d * (wide)line->period_frac >> 64);
    uint64_t mono = line->mono_ns + (uint64_t)d * line->period_ns + fraction;
    uint64_t error = line->maxerror_ns + growth(d, line->drift_rate);
    EXPECT((uint64_t)instant->mono_ns == mono);
    EXPECT((uint64_t)instant->utc_ns == mono + (line->utc_ns - line->mono_ns));
    EXPECT(instant->maxerror_ns == error + growth(d, line->slew_rate));
    EXPECT(instant->utc_maxerror_ns == error + line->utc_maxerror_ns);
    EXPECT(instant->esterror_ns ==
           esterror_start(lines, line) + growth(d, lines->validity.esterror_rate));
    EXPECT(instant->flags == flags_at(lines, line, instant->ticks));
}
#else
static void expect_exact(const struct timebase_lines *lines, const struct timebase_line *line,
                         const struct timebase_instant *instant)
{
    /* the rest is the conformance vectors' task here */
    EXPECT(instant->flags == flags_at(lines, line, instant->ticks));
}
#endif

/* A writer may have UTC where it likes: TAI is then beyond the range, and wraps. */
static void expect_tai(const struct timebase_instant *instant)
{
    int16_t offset_sec = (int16_t)(instant->flags >> TIMEBASE_LINE_TAI_SHIFT);
    uint64_t offset_ns = (uint64_t)(offset_sec * (int64_t)1000000000);
    uint64_t tai_ns = (uint64_t)timebase_tai_from_utc(instant->utc_ns, instant->flags);
    EXPECT(tai_ns - (uint64_t)instant->utc_ns == offset_ns);
}

/* ---- the readers */

/* To readers of 32 bits a number with a lower half of 0 says that there are none, too. */
static bool has_lines(const struct timebase_page *page)
{
    return timebase_page_seq(page, __ATOMIC_RELAXED) != 0;
}

static void check_conversion(const struct timebase_page *page, uint64_t ticks)
{
    struct timebase_instant instant;
    memset(&instant, 0xa5, sizeof(instant));
    bool is_read = timebase_page_convert(page, ticks, &instant);
    EXPECT(is_read == has_lines(page));
    if (!is_read)
        return;
    EXPECT(instant.ticks == ticks);
    const struct timebase_lines *lines = &page->copy[page->seq & 1];
    expect_exact(lines, line_for(lines, ticks), &instant);
    expect_tai(&instant);
}

/* A reader of now that happens to read this tick. */
static void check_line_now(const struct timebase_page *page, uint64_t ticks)
{
    const struct timebase_lines *lines = &page->copy[page->seq & 1];
    uint64_t d = 0;
    const struct timebase_line *line =
        timebase_page_line_now(lines, ticks, page->refresh_ticks, &d);
    const struct timebase_line *wanted = line_for(lines, ticks);
    bool is_due = wanted == &lines->after && ticks - wanted->start_ticks > page->refresh_ticks;
    bool went_back = (int64_t)(ticks - lines->before.start_ticks) < 0;
    EXPECT(line == (is_due || (went_back && wanted == &lines->before) ? NULL : wanted));
    EXPECT(line == NULL || d == ticks - line->start_ticks);
    /* what is current has not expired */
    EXPECT(line == NULL || flags_at(lines, line, ticks) == line->flags);
}

static void check_now(const struct timebase_page *page, int ordered)
{
    struct timebase_instant instant;
    if (timebase_page_read(page, ordered, TIMEBASE_WANT_ALL, &instant))
        EXPECT(has_lines(page));
}

static int64_t time_at(const struct timebase_page *page, uint64_t ticks, bool is_utc)
{
    struct timebase_instant instant;
    EXPECT(timebase_page_convert(page, ticks, &instant));
    return is_utc ? instant.utc_ns : instant.mono_ns;
}

static int reach_bits(const struct timebase_page *page)
{
    uint32_t period_ns = page->copy[page->seq & 1].after.period_ns;
    int bits = 62;
    for (; period_ns != 0; period_ns >>= 1)
        bits--;
    return bits;
}

/*
 * However the lines lie: the tick found shows the target or later, and the one before it does not,
 * but at the ends of the range.
 */
static void check_inverse(const struct timebase_page *page, int64_t target_ns, bool is_utc)
{
    uint64_t found = 0;
    bool is_found = is_utc ? timebase_page_ticks_at_utc(page, target_ns, &found)
                           : timebase_page_ticks_at_mono(page, target_ns, &found);
    EXPECT(is_found);
    uint64_t reach = (uint64_t)1 << reach_bits(page);
    uint64_t first = page->copy[page->seq & 1].after.start_ticks - reach;
    uint64_t into = found - first;
    EXPECT(into < 2 * reach);
    EXPECT(into == 0 || time_at(page, found - 1, is_utc) < target_ns);
    EXPECT(into == 2 * reach - 1 || time_at(page, found, is_utc) >= target_ns);
}

/* Bounds do not shrink with the distance, as far as the counter gets in decades. */
static void check_growth(const struct timebase_page *page, uint64_t ticks)
{
    const struct timebase_line *line = line_for(&page->copy[page->seq & 1], ticks);
    int64_t d = (int64_t)(ticks - line->start_ticks);
    struct timebase_instant instant;
    if (d > INT64_MAX / 4 || d < INT64_MIN / 4 || !timebase_page_convert(page, ticks, &instant))
        return;
    EXPECT(instant.maxerror_ns >= line->maxerror_ns);
}

static void check_valid(const struct timebase_page *page)
{
    const struct timebase_lines *lines = &page->copy[page->seq & 1];
    const uint64_t starts[] = {lines->before.start_ticks, lines->slew.start_ticks,
                               lines->after.start_ticks, input.ticks};
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
        for (uint64_t beside = 0; beside < 3; beside++) {
            check_conversion(page, starts[i] + beside - 1);
            check_line_now(page, starts[i] + beside - 1);
            check_growth(page, starts[i] + beside - 1);
        }
    for (int is_utc = 0; is_utc < 2; is_utc++) {
        check_inverse(page, input.target_ns, is_utc);
        check_inverse(page, time_at(page, input.ticks, is_utc), is_utc);
    }
    EXPECT(lines->after.period_ns <= PERIOD_MAX_NS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    parse(data, size);
    const struct timebase_page *page = &input.page;
    int valid = timebase_page_validate(page);
    EXPECT(valid == 0 || valid == TIMEBASE_E_FORMAT || valid == TIMEBASE_E_STALE ||
           valid == TIMEBASE_E_UNSUPPORTED);
    EXPECT((input.how & 3) != 3 || valid == 0);
    if (valid == 0)
        check_valid(page);
    /* Not validated: no promise but that there are lines or none; and no trap. */
    struct timebase_instant instant;
    uint64_t ticks;
    EXPECT(timebase_page_convert(page, input.ticks, &instant) == has_lines(page));
    EXPECT(timebase_page_ticks_at_mono(page, input.target_ns, &ticks) == has_lines(page));
    EXPECT(timebase_page_ticks_at_utc(page, input.target_ns, &ticks) == has_lines(page));
    check_now(page, 0);
    check_now(page, 1);
    return 0;
}
