/* SPDX-License-Identifier: MIT */
#include "plausible.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "moment.h"
#include "clock/counter/uncancelled.h"

#include <timebase/error.h>

/*
 * How far the clocks may be off beyond the page's own bound: the writer may not have seen a step of
 * the system clock yet, or this thread was held up between two looks.
 */
#define TOLERANCE_NS 100000000
#define NS_PER_SEC 1000000000

/* No counter ticks faster than 1 THz. The limit also keeps quotients by a period small. */
static bool is_possible(const struct timebase_line *line)
{
    return line->period_ns > 0 || line->period_frac >> 54 != 0;
}

int plausible_lines(const struct timebase_page *page)
{
    const struct timebase_lines *lines = &page->copy[page->seq & 1];
    if (!is_possible(&lines->before) || !is_possible(&lines->slew) || !is_possible(&lines->after))
        return TIMEBASE_E_FORMAT;
    bool is_corrected = (page->incompatible & TIMEBASE_PAGE_CORRECTED_BY_CPU) != 0;
    if (is_corrected != (page->counter_id == TIMEBASE_COUNTER_BY_CPU))
        return TIMEBASE_E_FORMAT;
    if (page->counter_id != (uint32_t)timebase_counter_id())
        return TIMEBASE_E_UNSUPPORTED;
    int64_t begun = (int64_t)(timebase_ticks_ordered() - lines->before.start_ticks);
    return begun >= 0 ? TIMEBASE_OK : TIMEBASE_E_STALE;
}

/* One of the kernel's small files, as text. */
static bool read_text(const char *path, char *text, size_t size)
{
    int fd = uncancelled_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return false;
    ssize_t length = uncancelled_read(fd, text, size - 1);
    uncancelled_close(fd);
    text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

/* timens_offsets is about the children's namespace. If ours is another, its offset is not known. */
static bool are_children_with_us(void)
{
    char own[64] = {0}, children[64] = {0};
    return readlink("/proc/self/ns/time", own, sizeof(own) - 1) > 0 &&
        readlink("/proc/self/ns/time_for_children", children, sizeof(children) - 1) > 0 &&
        strcmp(own, children) == 0;
}

/* Kernels before 5.6, or built without, show every kind of namespace but this one. */
static bool are_there_time_namespaces(void)
{
    char link[64];
    return readlink("/proc/self/ns/time", link, sizeof(link)) > 0 ||
        readlink("/proc/self/ns/mnt", link, sizeof(link)) <= 0;
}

/* "monotonic <s> <ns>": CLOCK_MONOTONIC here - that of the first namespace. */
static bool namespace_offset(int64_t *offset_ns)
{
    static const char name[] = "monotonic";
    char text[256];
    char *end;
    *offset_ns = 0;
    if (!are_there_time_namespaces())
        return true;
    if (!are_children_with_us() || !read_text("/proc/self/timens_offsets", text, sizeof(text)) ||
        strncmp(text, name, sizeof(name) - 1) != 0)
        return false;
    long long sec = strtoll(text + sizeof(name) - 1, &end, 10);
    long long ns = strtoll(end, &end, 10);
    *offset_ns = (int64_t)sec * NS_PER_SEC + ns;
    return *end == '\n' || *end == ' ' || *end == '\0';
}

static uint64_t size_of(int64_t difference_ns)
{
    return difference_ns < 0 ? -(uint64_t)difference_ns : (uint64_t)difference_ns;
}

static bool is_within(int64_t difference_ns, uint64_t error_ns)
{
    return size_of(difference_ns) <= error_ns + TOLERANCE_NS;
}

/*
 * Does a time namespace explain a difference of monotonic time? Yes, if the namespace's offset is
 * as large; it is 0 where the kernel has none. Yes also where the offset cannot be read (no /proc,
 * or this process has moved): UTC agrees, so it is the same machine. The offset is exact when it
 * can be read. The difference that is seen contains the page's error, and any delay between the two
 * looks.
 */
static bool is_explained(int64_t difference_ns, uint64_t error_ns, int64_t *offset_ns)
{
    *offset_ns = 0;
    if (size_of(difference_ns) <= error_ns)
        return true;
    if (!namespace_offset(offset_ns)) {
        *offset_ns = is_within(difference_ns, error_ns) ? 0 : difference_ns;
        return true;
    }
    int64_t rest_ns = (int64_t)((uint64_t)difference_ns - (uint64_t)*offset_ns);
    if (size_of(rest_ns) < size_of(difference_ns))
        return is_within(rest_ns, error_ns);
    *offset_ns = 0; /* the writer is in the same one */
    return is_within(difference_ns, error_ns);
}

/*
 * A time namespace also shifts the OS clock that serves as the counter, together with monotonic
 * time. Then only UTC by such ticks is off, perhaps by little, so no tolerance is added to the
 * page's bound. Of counters that are corrected by CPU it serves for some, so that they are shifted
 * against the others: monotonic time by those tells.
 */
static bool is_counter_shifted(const struct moment *moment, const struct timebase_lines *lines,
                               int64_t mono_offset_ns)
{
    switch (timebase_counter_id()) {
    case TIMEBASE_COUNTER_OS:
        return !moment_agrees_in_utc(moment, lines);
    case TIMEBASE_COUNTER_BY_CPU:
        return mono_offset_ns != 0 || !moment_agrees_in_utc(moment, lines);
    default:
        return false;
    }
}

int plausible_page(const struct timebase_page *page, int64_t *mono_offset_ns)
{
    struct moment moment;
    struct timebase_instant now;
    int error = plausible_lines(page);
    if (error != TIMEBASE_OK)
        return error;
    if (!moment_look(&moment))
        return TIMEBASE_E_REFERENCE;
    if (!timebase_page_convert(page, timebase_ticks_ordered(), &now))
        return TIMEBASE_E_STALE;
    uint64_t error_ns = now.maxerror_ns + moment.error_ns;
    int64_t utc_off_ns = (int64_t)((uint64_t)moment.utc_ns - (uint64_t)now.utc_ns);
    int64_t mono_off_ns = (int64_t)((uint64_t)moment.mono_ns - (uint64_t)now.mono_ns);
    int64_t offset_ns;
    if (!is_within(utc_off_ns, error_ns) || !is_explained(mono_off_ns, error_ns, &offset_ns))
        return TIMEBASE_E_STALE;
    if (is_counter_shifted(&moment, &page->copy[page->seq & 1], offset_ns))
        return TIMEBASE_E_STALE;
    *mono_offset_ns = offset_ns;
    return TIMEBASE_OK;
}
