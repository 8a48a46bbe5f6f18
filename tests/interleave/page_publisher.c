/* SPDX-License-Identifier: MIT */
#include "page_publisher.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "clock/line/fixed.h"
#include "clock/page/publish.h"

#define NS_PER_SEC 1000000000
#define WEAVE_PPM 400
/* So that the number in the bounds makes a true bound, too: 3 ms, and 30 us more each second. */
#define FIRST_NUMBER 1000000

static int64_t clock_ns(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * NS_PER_SEC + now.tv_nsec;
}

int64_t page_publisher_mono_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

struct timebase_page *page_publisher_map(const char *path)
{
    int file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (file < 0)
        return NULL;
    void *memory = MAP_FAILED;
    if (ftruncate(file, TIMEBASE_PAGE_SIZE) == 0)
        memory = mmap(NULL, TIMEBASE_PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (memory == MAP_FAILED)
        return NULL;
    memset(memory, 0, TIMEBASE_PAGE_SIZE);
    return (struct timebase_page *)memory;
}

static uint64_t ticks_in(const struct page_publisher *publisher, int64_t ns)
{
    return (uint64_t)ns * (publisher->frequency_hz / 1000) / (NS_PER_SEC / 1000);
}

/* Length of a tick when time runs so much faster than the nominal pace. */
static struct fixed period(const struct page_publisher *publisher, int64_t ppm)
{
    int64_t f = (int64_t)publisher->frequency_hz;
    uint64_t hz = (uint64_t)(f - f / 1000000 * ppm);
    struct fixed length;
    length.ns = (int64_t)(NS_PER_SEC / hz);
    length.frac = fixed_quotient(NS_PER_SEC % hz, 0, hz);
    return length;
}

/* The line that goes on from `line` at `ticks`, at another pace. The end of the old one, rounded
 * down, is no lower than any time that it showed. */
static struct timebase_line go_on(const struct page_publisher *publisher,
                                  const struct timebase_line *line, uint64_t ticks, int64_t ppm)
{
    struct timebase_line next = *line;
    struct timebase_instant end;
    struct fixed length = period(publisher, ppm);
    timebase_line_convert(line, ticks - line->start_ticks, TIMEBASE_WANT_MONO, &end);
    next.start_ticks = ticks;
    next.mono_ns = (uint64_t)end.mono_ns;
    next.utc_ns = next.mono_ns + (uint64_t)timebase_line_utc_offset_ns(line);
    next.period_ns = (uint32_t)length.ns;
    next.period_frac = length.frac;
    return next;
}

/* New lines, a lead ahead: away from the nominal pace, and back. */
static void plan(struct page_publisher *publisher, uint64_t now)
{
    struct timebase_lines *lines = &publisher->lines;
    uint64_t start = now + ticks_in(publisher, PUBLISHER_LEAD_NS);
    struct timebase_instant then;
    lines->before = lines->after;
    timebase_line_convert(&lines->before, start - lines->before.start_ticks, TIMEBASE_WANT_MONO,
                          &then);
    struct fixed nominal = fixed_times(period(publisher, 0), start - publisher->start_ticks);
    int64_t ahead_ns = then.mono_ns - publisher->start_ns - nominal.ns;
    publisher->random = publisher->random * 6364136223846793005u + 1442695040888963407u;
    int64_t ppm = (int64_t)(publisher->random >> 33) % WEAVE_PPM;
    lines->slew = go_on(publisher, &lines->before, start, ahead_ns > 0 ? -ppm : ppm);
    lines->after =
        go_on(publisher, &lines->slew, start + ticks_in(publisher, PUBLISHER_LEAD_NS / 10), 0);
}

static void sign_validity(struct timebase_validity *validity, uint64_t n)
{
    validity->silent_ticks = validity->void_ticks = TIMEBASE_PAGE_NEVER;
    validity->before_esterror_ns = validity->slew_esterror_ns = validity->after_esterror_ns = 5 * n;
}

static void sign(struct timebase_line *line, uint64_t n)
{
    line->maxerror_ns = 3 * n;
    line->utc_maxerror_ns = 4 * n;
    line->flags = (uint32_t)n << TIMEBASE_LINE_TAI_SHIFT | TIMEBASE_LINE_TAI_VALID |
        TIMEBASE_STATUS_SYNCHRONIZED;
}

bool page_publisher_is_whole(const struct timebase_instant *instant)
{
    uint64_t n = instant->maxerror_ns / 3;
    uint32_t flags = (uint32_t)n << TIMEBASE_LINE_TAI_SHIFT | TIMEBASE_LINE_TAI_VALID |
        TIMEBASE_STATUS_SYNCHRONIZED;
    return instant->maxerror_ns == 3 * n && instant->utc_maxerror_ns == 7 * n &&
        instant->esterror_ns == 5 * n && instant->flags == flags;
}

static void publish(struct page_publisher *publisher)
{
    struct timebase_lines *lines = &publisher->lines;
    uint64_t now = timebase_page_ticks(1);
    bool has_begun = (int64_t)(now - lines->after.start_ticks) >= 0;
    if (has_begun)
        plan(publisher, now);
    uint64_t number = FIRST_NUMBER + publisher->published++;
    sign(&lines->before, number);
    sign(&lines->slew, number);
    sign(&lines->after, number);
    sign_validity(&lines->validity, number);
    publish_lines(publisher->page, lines, (uint64_t)1 << 62);
    if (has_begun && (int64_t)(timebase_page_ticks(1) - lines->slew.start_ticks) >= 0) {
        publisher->late++;
        publish_count(&publisher->page->late_count);
    }
}

void page_publisher_begin(struct page_publisher *publisher, struct timebase_page *page)
{
    struct timebase_counter counter;
    struct page_publisher fresh = {.page = page, .random = 42};
    timebase_counter_probe(&counter);
    *publisher = fresh;
    publisher->frequency_hz = counter.frequency_hz;
    publisher->start_ticks = timebase_page_ticks(1);
    publisher->start_ns = clock_ns(CLOCK_MONOTONIC);
    struct timebase_line nominal = {0};
    nominal.start_ticks = publisher->start_ticks;
    nominal.mono_ns = (uint64_t)publisher->start_ns;
    nominal.utc_ns =
        nominal.mono_ns + (uint64_t)(clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC));
    nominal.period_ns = (uint32_t)period(publisher, 0).ns;
    nominal.period_frac = period(publisher, 0).frac;
    publisher->lines.before = publisher->lines.slew = publisher->lines.after = nominal;
    publish_begin(page, timebase_counter_id());
    publish(publisher);
}

void page_publisher_run(struct page_publisher *publisher, uint64_t per_second, const int *stop,
                        int64_t deadline_ns)
{
    int64_t interval_ns = NS_PER_SEC / (int64_t)per_second;
    int64_t due_ns = clock_ns(CLOCK_MONOTONIC);
    while (!__atomic_load_n(stop, __ATOMIC_RELAXED)) {
        int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
        if (deadline_ns != 0 && now_ns >= deadline_ns)
            return;
        publish(publisher);
        due_ns = due_ns + interval_ns > now_ns ? due_ns + interval_ns : now_ns;
        struct timespec due = {(time_t)(due_ns / NS_PER_SEC), (long)(due_ns % NS_PER_SEC)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
    }
}
