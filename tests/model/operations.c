/* SPDX-License-Identifier: MIT */
/*
 * operations: what the code does to a page, one memory operation a line, for the models of the
 * protocol (tests/model/loom, tests/model/page.pml) to interpret.
 *
 *     operations            compares it with OPERATIONS_FILE; exits with 1 if it differs
 *     operations --print    prints it
 *
 * The page's own readers and writer are compiled here with their atomic builtins replaced. Each
 * operation has its kind and order, the place in the page and, of a store, where the value comes
 * from. Neither is told by the code's text: the places are the addresses used, the sources are
 * found by giving each field of the lines a value of its own, and what a reader accepts by letting
 * its second look at the number see other numbers.
 */
#include "recorder.h"

#include "clock/page/convert.c"
#include "clock/page/validate.c"
#include "clock/page/publish.c"

#include "listing.h"

#ifndef OPERATIONS_FILE
#define OPERATIONS_FILE "tests/model/operations.txt"
#endif
#define FAR ((uint64_t)1 << 61) /* ticks: not to be reached while this runs */

static struct timebase_page page;
static struct timebase_lines lines;

/* ---- names of fields */

struct field {
    const char *name;
    size_t offset, size;
};

#define FIELD(type, member)                                                                        \
    {                                                                                              \
#member, offsetof(struct type, member), sizeof(((struct type *)0)->member)                 \
    }
#define LINE_FIELD(member) FIELD(timebase_line, member)
#define VALIDITY_FIELD(member) FIELD(timebase_validity, member)

static const struct field line_fields[] = {
    LINE_FIELD(start_ticks),     LINE_FIELD(mono_ns),    LINE_FIELD(utc_ns),
    LINE_FIELD(period_frac),     LINE_FIELD(period_ns),  LINE_FIELD(flags),
    LINE_FIELD(maxerror_ns),     LINE_FIELD(drift_rate), LINE_FIELD(slew_rate),
    LINE_FIELD(utc_maxerror_ns),
};
static const struct field validity_fields[] = {
    VALIDITY_FIELD(silent_ticks),       VALIDITY_FIELD(void_ticks),
    VALIDITY_FIELD(before_esterror_ns), VALIDITY_FIELD(slew_esterror_ns),
    VALIDITY_FIELD(after_esterror_ns),  VALIDITY_FIELD(esterror_rate),
};
/* A copy is four parts of one size. */
static const char *const part_names[] = {"before", "slew", "after", "validity"};

/* Of a word taken in two, which half; they are in another order on machines of the other one. */
static const char *half_name(size_t into, size_t size, size_t whole)
{
    if (size == whole)
        return "";
    return (into != 0) == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) ? ".high" : ".low";
}

/* The field of a copy at an offset; *start is where it begins. */
static const struct field *field_at(size_t offset, size_t *start)
{
    size_t part = offset / sizeof(struct timebase_line) * sizeof(struct timebase_line);
    bool is_line = part < offsetof(struct timebase_lines, validity);
    const struct field *field = is_line ? line_fields : validity_fields;
    while (offset - part >= field->offset + field->size)
        field++;
    *start = part + field->offset;
    return field;
}

static void print_field(size_t offset, size_t size)
{
    size_t start;
    const struct field *field = field_at(offset, &start);
    print("%s.%s%s", part_names[offset / sizeof(struct timebase_line)], field->name,
          half_name(offset - start, size, field->size));
}

/* ---- where a stored value comes from */

/* Each half of each field of the lines has a value that no other has. */
static void make_unique(struct timebase_lines *to)
{
    uint32_t half[sizeof(*to) / sizeof(uint32_t)];
    for (uint32_t i = 0; i < sizeof(half) / sizeof(half[0]); i++)
        half[i] = 0x10000 + i;
    memcpy(to, half, sizeof(*to));
}

/* Both halves of the present one are the lesser: it stands there while the number changes. */
static const uint64_t present_refresh_ticks = 0x1e0000001f000;
static const uint64_t refresh_ticks = 0x2000000030000;

/* The whole of it, or one of its halves. */
static bool is_part_of(uint64_t value, uint64_t word)
{
    return value == word || value == (word & UINT32_MAX) || value == word >> 32;
}

static void print_source(const struct operation *store, uint64_t number)
{
    unsigned char bytes[8], found[8] = {0};
    memcpy(found, &store->value, sizeof(found));
    if (store->size == 4) {
        uint32_t half = (uint32_t)store->value;
        memcpy(found, &half, sizeof(half));
    }
    for (size_t offset = 0; offset < sizeof(lines); offset += 4) {
        memcpy(bytes, (const char *)&lines + offset, 4);
        if (memcmp(bytes, found, 4) == 0) {
            print_field(offset, store->size);
            return;
        }
    }
    if (is_part_of(store->value, refresh_ticks))
        print("refresh_ticks");
    else if (is_part_of(store->value, present_refresh_ticks))
        print("refresh_ticks.lesser");
    else if (store->value == number + 1)
        print("s+1");
    else if (store->size == 4 && store->value == 0)
        print("s+1"); /* the upper half of so small a number */
    else
        print("another value");
}

/* ---- one operation, one line */

static void print_place_in_copy(size_t offset, size_t size, uint64_t number)
{
    char place[32];
    size_t copy = offset / sizeof(struct timebase_lines);
    size_t into = offset % sizeof(struct timebase_lines), start;
    const struct field *field = field_at(into, &start);
    snprintf(place, sizeof(place), "%s+%zu%s", copy == (number & 1) ? "this" : "next", start,
             half_name(into - start, size, field->size));
    print("%-13s", place);
}

/* A word has the place of its beginning; halves are told apart by name, not by byte order. */
static void print_place(const struct operation *operation, uint64_t number)
{
    size_t offset = (size_t)((const char *)operation->address - (const char *)&page);
    char place[32];
    if (offset >= offsetof(struct timebase_page, copy)) {
        print_place_in_copy(offset - offsetof(struct timebase_page, copy), operation->size, number);
        return;
    }
    size_t whole = offset < offsetof(struct timebase_page, magic) ? 8 : operation->size;
    snprintf(place, sizeof(place), "%zu%s", offset / whole * whole,
             half_name(offset % whole, operation->size, whole));
    print("%-13s", place);
}

static void print_operation(const struct operation *operation, uint64_t number)
{
    print_kind(operation);
    if (operation->kind == FENCE)
        return;
    print_place(operation, number);
    print("  %zu  ", operation->size);
    size_t offset = (size_t)((const char *)operation->address - (const char *)&page);
    if (operation->kind == STORE)
        print_source(operation, number);
    else if (offset >= offsetof(struct timebase_page, copy))
        print_field((offset - offsetof(struct timebase_page, copy)) % sizeof(lines),
                    operation->size);
    else
        print(offset < 8 ? "s" : "refresh_ticks");
    print("\n");
}

/* Of a reader that takes words again and again, the first time. */
static void print_record(uint64_t number)
{
    for (int i = 0; i < recorder.count; i++)
        if (recorder.operation[i].kind != LOAD || !came_before(i))
            print_operation(&recorder.operation[i], number);
}

/* ---- the writer */

static void print_publication(uint64_t number)
{
    make_unique(&lines);
    page.seq = number;
    page.refresh_ticks = present_refresh_ticks;
    record(0);
    publish_lines(&page, &lines, refresh_ticks);
    print("\npublication\n");
    print_record(number);
}

/* ---- the readers; each returns whether it was content */

static uint64_t tick;

static bool read_now(void)
{
    struct timebase_instant instant;
    return timebase_page_read(&page, 1, TIMEBASE_WANT_ALL, &instant);
}

static bool read_at(void)
{
    struct timebase_instant instant;
    return timebase_page_convert(&page, tick, &instant);
}

static bool read_back(void)
{
    uint64_t found;
    return timebase_page_ticks_at_utc(&page, 5, &found);
}

static bool validate(void)
{
    return timebase_page_validate(&page) == TIMEBASE_OK;
}

/* How far each line begins before (or, negative, after) the tick that is read. */
struct reading {
    const char *name;
    bool (*read)(void);
    int64_t before, slew, after;
};

static const struct reading readings[] = {
    {"now, on after", read_now, 3, 2, 1},    {"now, on slew", read_now, 2, 1, -1},
    {"now, on before", read_now, 1, -1, -2}, {"at, on after", read_at, 3, 2, 1},
    {"at, on slew", read_at, 2, 1, -1},      {"at, on before", read_at, 1, -1, -2},
    {"at, earlier", read_at, -1, -2, -3},    {"inverse, each word once", read_back, 3, 2, 1},
    {"validation", validate, 3, 2, 1},
};

static void prepare_page(const struct reading *reading, uint64_t number)
{
    struct timebase_lines *copy = &page.copy[number & 1];
    memset(&lines, 0, sizeof(lines));
    lines.validity.silent_ticks = lines.validity.void_ticks = TIMEBASE_PAGE_NEVER;
    lines.before.period_ns = lines.slew.period_ns = lines.after.period_ns = 1;
    tick = timebase_arch_ticks_ordered();
    lines.before.start_ticks = tick - (uint64_t)reading->before * (FAR / 4);
    lines.slew.start_ticks = tick - (uint64_t)reading->slew * (FAR / 4);
    lines.after.start_ticks = tick - (uint64_t)reading->after * (FAR / 4);
    page.seq = number;
    page.refresh_ticks = FAR;
    *copy = lines;
}

/* Whether the reader is content although its second look sees another number. */
static bool accepts(const struct reading *reading, uint64_t number, int64_t surprise)
{
    prepare_page(reading, number);
    record((uint64_t)surprise);
    return reading->read() && recorder.looks == 2;
}

static void print_reading(const struct reading *reading, uint64_t number)
{
    print("\nreading %s\n", reading->name);
    accepts(reading, number, 0);
    print_record(number);
    print("    accept if the second s is more by:");
    for (int surprise = -SURPRISE_MAX; surprise <= SURPRISE_MAX; surprise++)
        if (accepts(reading, number, surprise))
            print(" %d", surprise);
    print("\n");
}

/* ---- all of it */

static const char head[] =
    "# What the code does to a page, as printed by tests/model/operations: kind and order, place "
    "in\n"
    "# the page (this: copy[s & 1], next: copy[(s + 1) & 1], bytes), size, and what is stored or\n"
    "# looked at; s is the page's number. The models of the protocol interpret this file.\n";

static void print_all(uint64_t number)
{
    text_length = 0;
    print("%s", head);
    print_publication(number);
    for (size_t i = 0; i < sizeof(readings) / sizeof(readings[0]); i++)
        print_reading(&readings[i], number);
}

int main(int count, char **arguments)
{
    publish_begin(&page, (int)TIMEBASE_ARCH_COUNTER);
    recorder.number = (const char *)&page.seq +
        (sizeof(void *) == 4 && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0);
    return list(count, arguments, print_all, OPERATIONS_FILE);
}
