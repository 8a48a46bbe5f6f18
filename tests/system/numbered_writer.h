/* SPDX-License-Identifier: MIT */
/* numbered_writer: a page whose writer ends within a publication, and what its readers then see. */
#ifndef TEST_NUMBERED_WRITER_H
#define TEST_NUMBERED_WRITER_H

#include "clock/page/publish.h"
#include "numbered_page.h"

/* Numbers as the page has them: what publications say of themselves and seq agree. */
enum { OLD = 6, NEW = OLD + 1, NEXT = NEW + 1 };

static inline void publish_number(struct timebase_page *page, uint64_t origin, uint64_t number)
{
    struct timebase_lines lines = numbered_lines(origin, number, NUMBERED_AFTER);
    publish_lines(page, &lines, NUMBERED_REFRESH);
}

/* From the page as it was made on; the other copy is full of older words. */
static inline void old_page(struct timebase_page *page, uint64_t origin)
{
    static const struct timebase_page none;
    *page = none;
    publish_begin(page, (int)TIMEBASE_ARCH_COUNTER);
    for (uint64_t number = 1; number <= OLD; number++)
        publish_number(page, origin, number);
}

/* Which publication the readers see; on all three lines, and now, it must be the same one. */
static inline int64_t seen_number(const struct timebase_page *page, uint64_t origin)
{
    struct timebase_instant instant;
    assert_int_equal(timebase_page_validate(page), 0);
    assert_true(timebase_page_read(page, 1, TIMEBASE_WANT_ALL, &instant));
    int64_t number = numbered_number(&instant, origin, NUMBERED_AFTER);
    for (unsigned which = NUMBERED_BEFORE; which <= NUMBERED_AFTER; which++) {
        uint64_t ticks = origin - (NUMBERED_AFTER - which) * 2 * NUMBERED_FAR;
        assert_true(timebase_page_convert(page, ticks, &instant));
        assert_true(numbered_number(&instant, origin, which) == number);
    }
    return number;
}

#endif
