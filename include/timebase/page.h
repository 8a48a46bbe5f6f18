/* SPDX-License-Identifier: MIT */
/*
 * page: what a tick means. 640 bytes of memory that turn a counter value into a time.
 *
 *     mono(ticks) = line.mono_ns + d * line.period,  d = ticks - line.start_ticks
 *     utc(ticks)  = line.utc_ns  + d * line.period
 *
 * A page holds two copies of three straight lines over the counter: `before` hands over to `slew`
 * at slew.start_ticks, and `slew` to `after` at after.start_ticks. A reader picks the line by its
 * own tick, so that a tick means the same nanosecond to whoever converts it. The lines join without
 * a gap. The writer publishes `slew` and `after` before their first ticks come, except the first
 * lines of a clock and those after a disruption, and counts late publications. `slew` brings the
 * time nearer to the reference with a slope at most 500 ppm off; `after` has the slope of the
 * reference itself, so that a page whose writer has died is a clock in holdover
 * (docs/decisions/0001-page.md). Each copy says for how long: after silent_ticks nobody keeps the
 * clock any more, after void_ticks its bounds no longer hold. So a reader that has only the page
 * learns in time that the status is UNKNOWN (docs/decisions/0010-page-2.md).
 *
 * spec/page.md is the specification for readers in other languages, with test vectors.
 *
 * The protocol, a latch of two copies; each fence names its partner on the other side:
 *
 *     writer                                  reader
 *     s = seq                                 s = seq, acquire          (A)
 *     fence, release                    (B)   read refresh_ticks, relaxed
 *     write copy[(s + 1) & 1], relaxed        read copy[s & 1], relaxed
 *     lower refresh_ticks, relaxed            fence, acquire            (C)
 *     seq = s + 1, release              (D)   accept if seq == s, relaxed
 *     write refresh_ticks, release      (E)
 *
 *     (D) with (A): a reader that sees the number sees the copy that it names, and a refresh_ticks
 *     that was lowered to no more than this copy's own.
 *     (B) with (C): a reader that saw any word of the next rewrite of copy[s & 1] (number s + 2)
 *     also sees s + 1 or more in its last look at seq, and so rejects what it read.
 *     (E) with (C): a reader that saw the refresh_ticks of number s + 1 also sees s + 1 or more in
 *     its last look at seq. So refresh_ticks, which lies outside the copies, is never larger than
 *     the one that was published with the accepted lines.
 *
 * Readers never wait: a writer killed half-way leaves the published copy untouched.
 */
#ifndef TIMEBASE_PAGE_H
#define TIMEBASE_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <timebase/arithmetic.h>
#include <timebase/attributes.h>
#include <timebase/counter.h>

TIMEBASE_EXTERN_BEGIN

#define TIMEBASE_PAGE_MAGIC 0x47504254u /* "TBPG" as a little-endian machine stores it */
#define TIMEBASE_PAGE_VERSION 2u
#define TIMEBASE_PAGE_SIZE 640u

/*
 * How long a reader may use its copy of a shared page. The writer publishes lines that begin no
 * sooner than this after their publication. So a tick means the same to all readers, whether they
 * look at the page itself or at a copy.
 */
#define TIMEBASE_PAGE_LEASE_NS 20000000

/*
 * The expiry that this library's writers put into a page: this long after the lines wanted renewal,
 * readers say FREERUNNING, and at last UNKNOWN. Readers take the page's own numbers, not these.
 */
#define TIMEBASE_PAGE_SILENT_NS 5000000000
#define TIMEBASE_PAGE_EXPIRED_NS 1000000000000

/* As silent_ticks or void_ticks: never. A larger distance looks like a tick before the line. */
#define TIMEBASE_PAGE_NEVER 0x8000000000000000u

/* timebase_page.incompatible: features without which the page is misread. Refuse unknown ones. */
#define TIMEBASE_PAGE_CORRECTED_BY_CPU 0x00000001u /* each CPU has a correction of its ticks */
#define TIMEBASE_PAGE_UNDERSTOOD 0x00000000u       /* bits that this library's readers handle */

/* The state of the clock, with the values and meaning of Linux' vmclock-abi.h. */
enum timebase_status {
    TIMEBASE_STATUS_UNKNOWN = 0,      /* nothing can be said; bounds do not hold */
    TIMEBASE_STATUS_INITIALIZING = 1, /* the frequency is not measured well yet; bounds hold */
    TIMEBASE_STATUS_SYNCHRONIZED = 2, /* the reference says that it follows true UTC */
    TIMEBASE_STATUS_FREERUNNING = 3,  /* the reference does not follow UTC, or is out of reach */
    TIMEBASE_STATUS_UNRELIABLE = 4,   /* the counter has just misbehaved, or is distrusted */
};

/* timebase_line.flags */
#define TIMEBASE_LINE_STATUS_MASK 0x0000000fu /* enum timebase_status */
#define TIMEBASE_LINE_TAI_VALID 0x00000010u   /* tai_offset_sec was set by somebody */
#define TIMEBASE_LINE_LEAP_INSERT 0x00000020u /* a second comes in at the end of the day */
#define TIMEBASE_LINE_LEAP_DELETE 0x00000040u /* or is left out */
/* utc_maxerror is an estimate, whatever the status: no bound */
#define TIMEBASE_LINE_ESTIMATE 0x00000080u
/* the administrator vouches that this machine is never moved or restored from a snapshot */
#define TIMEBASE_LINE_NEVER_MOVED 0x00000100u
/* the kernel does not trust this counter */
#define TIMEBASE_LINE_COUNTER_DISTRUSTED 0x00000200u
#define TIMEBASE_LINE_TAI_SHIFT 16 /* upper half: TAI - UTC in seconds, signed 16 bits */

/* One straight line, one cache line. */
struct timebase_line {
    uint64_t start_ticks; /* the line's first tick */
    uint64_t mono_ns;     /* monotonic time there, ns since boot, rounded down */
    uint64_t utc_ns;      /* UTC there, two's complement; utc_ns - mono_ns is the same all along */
    uint64_t period_frac; /* length of a tick: period_ns + period_frac / 2^64 ns */
    uint32_t period_ns;   /* 0 for counters of more than 1 GHz */
    uint32_t flags;       /* TIMEBASE_LINE_... */
    uint64_t maxerror_ns; /* at start_ticks: |this line - reference clock| is no more */
    uint32_t drift_rate;  /* growth of both bounds, by the oscillator, 2^-32 ns per tick */
    uint32_t slew_rate;   /* growth of maxerror alone, by slews of the reference, likewise */
    /* |reference clock - true UTC| at start_ticks, as the reference says */
    uint64_t utc_maxerror_ns;
};

/*
 * How long the three lines mean what they say, in ticks after after.start_ticks; and how wrong they
 * probably are: |line - reference clock| at each line's start_ticks, as the samples say. It grows
 * by one rate along all of them. The estimate promises nothing; maxerror does.
 */
struct timebase_validity {
    uint64_t silent_ticks; /* from here on nobody keeps the clock: FREERUNNING at best */
    uint64_t void_ticks;   /* from here on the bounds do not hold: UNKNOWN */
    uint64_t before_esterror_ns;
    uint64_t slew_esterror_ns;
    uint64_t after_esterror_ns;
    uint32_t esterror_rate; /* 2^-32 ns per tick */
    uint32_t reserved32;    /* 0 */
    uint64_t reserved[2];   /* 0 */
};

struct timebase_lines {
    struct timebase_line before;
    struct timebase_line slew;
    struct timebase_line after;
    struct timebase_validity validity;
};

struct timebase_page {
    /* read at every call */
    uint64_t seq; /* number of this publication; 0: no lines here */
    /* the lines want renewal so many ticks after after.start_ticks; less than their silent_ticks */
    uint64_t refresh_ticks;
    /* written once */
    uint32_t magic;      /* TIMEBASE_PAGE_MAGIC */
    uint32_t size;       /* TIMEBASE_PAGE_SIZE */
    uint32_t version;    /* TIMEBASE_PAGE_VERSION */
    uint32_t counter_id; /* enum timebase_counter_id: whose ticks the lines take */
    /* counts since the page was made; relaxed, for people and monitors */
    uint64_t disruption_marker; /* changes when the counter's past is no guide to its future */
    uint64_t utc_step_count;    /* steps of UTC: utc_ns - mono_ns changed */
    uint64_t late_count;        /* publications that came after their slew.start_ticks */
    /* written once */
    uint32_t incompatible; /* TIMEBASE_PAGE_... features: a reader refuses those it does not know */
    uint32_t reserved32;   /* 0 */
    /* of the hypervisor's page, vmclock: which moves the lines account for; 0: not told. Relaxed */
    uint64_t vmclock_marker;
    uint64_t reserved[7]; /* 0 */
    struct timebase_lines copy[2];
} __attribute__((aligned(64)));

/* The layout is a contract with other languages and older processes: spec/page.md. */
#define TIMEBASE_LINE_AT(field, offset)                                                            \
    TIMEBASE_STATIC_ASSERT(offsetof(struct timebase_line, field) == (offset), #field)
#define TIMEBASE_VALIDITY_AT(field, offset)                                                        \
    TIMEBASE_STATIC_ASSERT(offsetof(struct timebase_validity, field) == (offset), #field)
#define TIMEBASE_PAGE_AT(field, offset)                                                            \
    TIMEBASE_STATIC_ASSERT(offsetof(struct timebase_page, field) == (offset), #field)
TIMEBASE_STATIC_ASSERT(sizeof(struct timebase_line) == 64, "a line is one cache line");
TIMEBASE_LINE_AT(start_ticks, 0);
TIMEBASE_LINE_AT(mono_ns, 8);
TIMEBASE_LINE_AT(utc_ns, 16);
TIMEBASE_LINE_AT(period_frac, 24);
TIMEBASE_LINE_AT(period_ns, 32);
TIMEBASE_LINE_AT(flags, 36);
TIMEBASE_LINE_AT(maxerror_ns, 40);
TIMEBASE_LINE_AT(drift_rate, 48);
TIMEBASE_LINE_AT(slew_rate, 52);
TIMEBASE_LINE_AT(utc_maxerror_ns, 56);
TIMEBASE_STATIC_ASSERT(sizeof(struct timebase_validity) == 64, "so is what they are worth");
TIMEBASE_VALIDITY_AT(silent_ticks, 0);
TIMEBASE_VALIDITY_AT(void_ticks, 8);
TIMEBASE_VALIDITY_AT(before_esterror_ns, 16);
TIMEBASE_VALIDITY_AT(slew_esterror_ns, 24);
TIMEBASE_VALIDITY_AT(after_esterror_ns, 32);
TIMEBASE_VALIDITY_AT(esterror_rate, 40);
TIMEBASE_PAGE_AT(seq, 0);
TIMEBASE_PAGE_AT(refresh_ticks, 8);
TIMEBASE_PAGE_AT(magic, 16);
TIMEBASE_PAGE_AT(size, 20);
TIMEBASE_PAGE_AT(version, 24);
TIMEBASE_PAGE_AT(counter_id, 28);
TIMEBASE_PAGE_AT(disruption_marker, 32);
TIMEBASE_PAGE_AT(utc_step_count, 40);
TIMEBASE_PAGE_AT(late_count, 48);
TIMEBASE_PAGE_AT(incompatible, 56);
TIMEBASE_PAGE_AT(vmclock_marker, 64);
TIMEBASE_PAGE_AT(copy, 128);
TIMEBASE_STATIC_ASSERT(sizeof(struct timebase_page) == TIMEBASE_PAGE_SIZE, "page size");

/* Everything one tick says. Errors are half-widths: time +/- error. */
struct timebase_instant {
    uint64_t ticks;
    int64_t mono_ns;
    int64_t utc_ns;
    uint64_t maxerror_ns;     /* against the reference clock, if it keeps its pace */
    uint64_t utc_maxerror_ns; /* against true UTC, if the reference is right about itself */
    uint64_t esterror_ns;     /* against the reference clock, probably: no promise */
    uint32_t flags;           /* TIMEBASE_LINE_... */
};

/*
 * Words of a page. 64-bit machines load and store them whole. On 32-bit machines a word is two
 * halves, each atomic: the protocol rejects halves of different publications like any other
 * mixture, and the sequence number is its lower half alone (a reader would have to sleep through
 * exactly 2^32 publications to be deceived).
 */
#if UINTPTR_MAX > 0xffffffffu

TIMEBASE_PART uint64_t timebase_page_word(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

TIMEBASE_PART void timebase_page_set_word(uint64_t *word, uint64_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

TIMEBASE_PART void timebase_page_set_word_release(uint64_t *word, uint64_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

TIMEBASE_PART uint64_t timebase_page_seq(const struct timebase_page *page, int order)
{
    return __atomic_load_n(&page->seq, order);
}

TIMEBASE_PART void timebase_page_set_seq(struct timebase_page *page, uint64_t seq)
{
    timebase_page_set_word_release(&page->seq, seq);
}

#else

typedef uint32_t __attribute__((may_alias)) timebase_half;

/* Which half of a word is the lower one. */
#define TIMEBASE_LOWER_HALF (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

TIMEBASE_PART uint64_t timebase_page_word(const uint64_t *word)
{
    const timebase_half *half = (const timebase_half *)word;
    uint32_t low = __atomic_load_n(&half[TIMEBASE_LOWER_HALF], __ATOMIC_RELAXED);
    uint32_t high = __atomic_load_n(&half[!TIMEBASE_LOWER_HALF], __ATOMIC_RELAXED);
    return ((uint64_t)high << 32) | low;
}

TIMEBASE_PART void timebase_page_set_word(uint64_t *word, uint64_t value)
{
    timebase_half *half = (timebase_half *)word;
    __atomic_store_n(&half[TIMEBASE_LOWER_HALF], (uint32_t)value, __ATOMIC_RELAXED);
    __atomic_store_n(&half[!TIMEBASE_LOWER_HALF], (uint32_t)(value >> 32), __ATOMIC_RELAXED);
}

/* A reader that sees either half also sees what was stored before it. */
TIMEBASE_PART void timebase_page_set_word_release(uint64_t *word, uint64_t value)
{
    timebase_half *half = (timebase_half *)word;
    __atomic_store_n(&half[TIMEBASE_LOWER_HALF], (uint32_t)value, __ATOMIC_RELEASE);
    __atomic_store_n(&half[!TIMEBASE_LOWER_HALF], (uint32_t)(value >> 32), __ATOMIC_RELEASE);
}

TIMEBASE_PART uint64_t timebase_page_seq(const struct timebase_page *page, int order)
{
    const timebase_half *half = (const timebase_half *)&page->seq;
    return __atomic_load_n(&half[TIMEBASE_LOWER_HALF], order);
}

TIMEBASE_PART void timebase_page_set_seq(struct timebase_page *page, uint64_t seq)
{
    timebase_half *half = (timebase_half *)&page->seq;
    __atomic_store_n(&half[!TIMEBASE_LOWER_HALF], (uint32_t)(seq >> 32), __ATOMIC_RELAXED);
    __atomic_store_n(&half[TIMEBASE_LOWER_HALF], (uint32_t)seq, __ATOMIC_RELEASE);
}

#endif

TIMEBASE_PART uint32_t timebase_page_half(const uint32_t *half)
{
    return __atomic_load_n(half, __ATOMIC_RELAXED);
}

/*
 * The line for a tick that has just been read, and *d, the ticks since its start; NULL when the
 * tick asks for renewal, or is older than the page (the counter went back). In quiet times one
 * comparison decides: a tick before `after` makes d huge.
 */
TIMEBASE_PART const struct timebase_line *timebase_page_line_now(const struct timebase_lines *lines,
                                                                 uint64_t ticks,
                                                                 uint64_t refresh_ticks,
                                                                 uint64_t *d)
{
    const struct timebase_line *line = &lines->after;
    *d = ticks - timebase_page_word(&line->start_ticks);
    if (TIMEBASE_LIKELY(*d <= refresh_ticks))
        return line;
    if ((int64_t)*d >= 0)
        return NULL;
    line = &lines->slew;
    *d = ticks - timebase_page_word(&line->start_ticks);
    if ((int64_t)*d >= 0)
        return line;
    line = &lines->before;
    *d = ticks - timebase_page_word(&line->start_ticks);
    return (int64_t)*d >= 0 ? line : NULL;
}

/* UTC - monotonic of a line, the same all along it. */
TIMEBASE_PART int64_t timebase_line_utc_offset_ns(const struct timebase_line *line)
{
    return (int64_t)(timebase_page_word(&line->utc_ns) - timebase_page_word(&line->mono_ns));
}

/* What to work out; the rest of the instant stays as it was. Constants fold away. */
enum timebase_want {
    TIMEBASE_WANT_MONO = 1,
    TIMEBASE_WANT_UTC = 2,
    TIMEBASE_WANT_FLAGS = 4,
    TIMEBASE_WANT_MAXERROR = 8,
    TIMEBASE_WANT_UTC_MAXERROR = 16,
    TIMEBASE_WANT_ESTERROR = 32,
    TIMEBASE_WANT_ALL = 63,
};

/* What a rate of 2^-32 ns per tick makes of d ticks, ns rounded down. */
TIMEBASE_PART uint64_t timebase_growth(uint64_t d, uint32_t rate)
{
    return timebase_multiply_high(d, (uint64_t)rate << 32);
}

/*
 * How long d ticks of the line last, ns rounded down. Counters of more than 1 GHz go without the
 * second product, which would be a tenth of the whole reading.
 */
TIMEBASE_PART uint64_t timebase_line_elapsed(const struct timebase_line *line, uint64_t d)
{
    uint64_t ns = timebase_multiply_high(d, timebase_page_word(&line->period_frac));
    uint32_t period_ns = timebase_page_half(&line->period_ns);
    if (TIMEBASE_UNLIKELY(period_ns != 0))
        ns += d * period_ns;
    return ns;
}

/* All that the line alone says: everything but esterror. */
TIMEBASE_PART void timebase_line_convert(const struct timebase_line *line, uint64_t d, int want,
                                         struct timebase_instant *out)
{
    uint64_t elapsed = timebase_line_elapsed(line, d);
    if (want & TIMEBASE_WANT_MONO)
        out->mono_ns = (int64_t)(timebase_page_word(&line->mono_ns) + elapsed);
    if (want & TIMEBASE_WANT_UTC)
        out->utc_ns = (int64_t)(timebase_page_word(&line->utc_ns) + elapsed);
    if (want & TIMEBASE_WANT_FLAGS)
        out->flags = timebase_page_half(&line->flags);
    if (want & (TIMEBASE_WANT_MAXERROR | TIMEBASE_WANT_UTC_MAXERROR)) {
        uint64_t error = timebase_page_word(&line->maxerror_ns) +
            timebase_growth(d, timebase_page_half(&line->drift_rate));
        if (want & TIMEBASE_WANT_MAXERROR)
            out->maxerror_ns = error + timebase_growth(d, timebase_page_half(&line->slew_rate));
        if (want & TIMEBASE_WANT_UTC_MAXERROR)
            out->utc_maxerror_ns = error + timebase_page_word(&line->utc_maxerror_ns);
    }
}

/* The estimated error of one of the lines, d ticks from its start. */
TIMEBASE_PART uint64_t timebase_lines_esterror(const struct timebase_lines *lines,
                                               const struct timebase_line *line, uint64_t d)
{
    const struct timebase_validity *validity = &lines->validity;
    const uint64_t *start_ns = line == &lines->after ? &validity->after_esterror_ns
        : line == &lines->slew                       ? &validity->slew_esterror_ns
                                                     : &validity->before_esterror_ns;
    return timebase_page_word(start_ns) +
        timebase_growth(d, timebase_page_half(&validity->esterror_rate));
}

/*
 * A line's flags at a tick. Where nobody has renewed the lines in time, the status falls to
 * FREERUNNING (UNRELIABLE and UNKNOWN are worse, and stay), and later to UNKNOWN. A reading of now
 * does not need this: its tick lies within refresh_ticks.
 */
TIMEBASE_PART uint32_t timebase_lines_flags(const struct timebase_lines *lines, uint64_t ticks,
                                            uint32_t flags)
{
    uint64_t d = ticks - timebase_page_word(&lines->after.start_ticks);
    uint32_t status = flags & TIMEBASE_LINE_STATUS_MASK;
    bool is_kept = status == TIMEBASE_STATUS_SYNCHRONIZED || status == TIMEBASE_STATUS_INITIALIZING;
    if ((int64_t)d < 0)
        return flags;
    if (d >= timebase_page_word(&lines->validity.void_ticks))
        status = TIMEBASE_STATUS_UNKNOWN;
    else if (is_kept && d >= timebase_page_word(&lines->validity.silent_ticks))
        status = TIMEBASE_STATUS_FREERUNNING;
    return (flags & ~TIMEBASE_LINE_STATUS_MASK) | status;
}

/* The counter, read as a reader of the page needs it; `ordered` is a constant. */
TIMEBASE_PART uint64_t timebase_page_ticks(int ordered)
{
    return ordered ? timebase_arch_ticks_ordered() : timebase_arch_ticks();
}

/*
 * Returns seq, and hides from the compiler that it is known earlier. What is computed from it then
 * comes after the counter read, and runs while an ordered read is under way instead of delaying it:
 * this saves 4 % of the reading on Zen 4. An unordered read would not be delayed, so there the
 * index is computed before the read, which is cheaper.
 */
TIMEBASE_PART size_t timebase_page_late(uint64_t seq)
{
    size_t late = (size_t)seq;
    __asm__ __volatile__("" : "+r"(late));
    return late;
}

/*
 * Read the counter and convert it by the page. False when the page has no line for now, or a
 * publication fell between the two looks at seq: the caller then takes the slow path of its clock,
 * whose attempts are counted. This makes one attempt, without a loop, and never uses a torn copy.
 */
TIMEBASE_PART bool timebase_page_read(const struct timebase_page *page, int ordered, int want,
                                      struct timebase_instant *out)
{
    uint64_t seq = timebase_page_seq(page, __ATOMIC_ACQUIRE);
    if (TIMEBASE_UNLIKELY(seq == 0))
        return false;
    out->ticks = timebase_page_ticks(ordered);
    size_t number = ordered ? timebase_page_late(seq) : (size_t)seq;
    const struct timebase_lines *lines = &page->copy[number & 1];
    uint64_t d;
    const struct timebase_line *line =
        timebase_page_line_now(lines, out->ticks, timebase_page_word(&page->refresh_ticks), &d);
    if (TIMEBASE_UNLIKELY(line == NULL))
        return false;
    timebase_line_convert(line, d, want, out);
    if (want & TIMEBASE_WANT_ESTERROR)
        out->esterror_ns = timebase_lines_esterror(lines, line, d);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return TIMEBASE_LIKELY(timebase_page_seq(page, __ATOMIC_RELAXED) == seq);
}

/*
 * Convert a tick read earlier (or one to come) by the lines of the page, however far from them:
 * ticks older than `before` by that line drawn backwards. The bound grows with the distance, and
 * the status tells where the page has expired. Fills all of *out. False if the page has no lines,
 * or (never seen) 1,000 publications fell into 1,000 attempts.
 */
TIMEBASE_API bool timebase_page_convert(const struct timebase_page *page, uint64_t ticks,
                                        struct timebase_instant *out);

/*
 * The inverse: the first tick at which the page's monotonic time, or UTC, is target_ns or later.
 * Targets the page cannot reach give the first or last tick of its range, either side of `after`:
 * 2^62 ticks below 1 ns (29 years at 5 GHz), 2^61 to 2^62 ns of longer ones (at least 73 years).
 * If UTC was stepped back and has shown target_ns twice, the result is either tick. False as above.
 */
TIMEBASE_API bool timebase_page_ticks_at_mono(const struct timebase_page *page, int64_t target_ns,
                                              uint64_t *ticks);
TIMEBASE_API bool timebase_page_ticks_at_utc(const struct timebase_page *page, int64_t target_ns,
                                             uint64_t *ticks);

/*
 * Is this a page that this library can read? Looks at magic, size, version, features, and the
 * ranges of the lines. Returns 0, TIMEBASE_E_FORMAT, TIMEBASE_E_UNSUPPORTED if it has a feature
 * that this library does not know, TIMEBASE_E_STALE if it holds no lines yet, TIMEBASE_E_TORN if it
 * changed meanwhile, or TIMEBASE_E_INVALID if page is null.
 */
TIMEBASE_API int timebase_page_validate(const struct timebase_page *page);

TIMEBASE_EXTERN_END

#endif
