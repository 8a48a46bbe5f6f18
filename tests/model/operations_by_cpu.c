/* SPDX-License-Identifier: MIT */
/*
 * operations_by_cpu: as operations.c, of the table by which the counter is corrected. It has a CPU
 * with lines; another, which is not in it, is read by its anchor.
 */
#include "clock/counter/by_cpu_here.h" /* whose own operations are none of the table's */

#include "recorder.h"

#include "clock/counter/by_cpu.c"

#include "listing.h"

#ifndef OPERATIONS_FILE
#define OPERATIONS_FILE "tests/model/operations-by-cpu.txt"
#endif

enum { CPUS = 1 };
#define ENTRY_WORDS (sizeof(struct by_cpu_entry) / sizeof(uint64_t))
#define ANCHOR_WORDS (sizeof(struct by_cpu_anchor) / sizeof(uint64_t))

/* A copy's words: those of the entry, then those of the anchor. */
static const char *const names[ENTRY_WORDS + ANCHOR_WORDS] = {
    "before.start_ticks", "before.add_ticks",    "before.rate",
    "slew.start_ticks",   "slew.add_ticks",      "slew.rate",
    "after.start_ticks",  "after.add_ticks",     "after.rate",
    "end_ticks",          "is_known",            "anchor.os_ns",
    "anchor.ticks",       "anchor.ticks_per_ns", "anchor.ticks_per_ns_frac",
    "anchor.error_ns",    "anchor.growth",
};
static struct by_cpu_entry entries[2 * CPUS];
static struct by_cpu_table table = {
    .cpus = CPUS,
    .copy = {{.entries = entries}, {.entries = entries + CPUS}},
};

/* ---- the machine --------------------------------------------------------------------------- */

static struct {
    unsigned cpu;
    uint64_t raw;
} machine;

uint64_t by_cpu_here(unsigned *cpu)
{
    *cpu = machine.cpu;
    return machine.raw;
}

/* ---- one operation, one line ---------------------------------------------------------------- */

static bool is_within(const void *address, const void *of, size_t bytes, size_t *word)
{
    size_t offset = (size_t)((const char *)address - (const char *)of);
    *word = offset / sizeof(uint64_t);
    return (const char *)address >= (const char *)of && offset < bytes;
}

/* The copy and the word of it; false: the number. */
static bool find_word(const void *address, unsigned *copy, size_t *word)
{
    for (*copy = 0; *copy < 2; ++*copy) {
        if (is_within(address, table.copy[*copy].entries, sizeof(entries[0]), word))
            return true;
        if (is_within(address, &table.copy[*copy].anchor, sizeof(table.copy[0].anchor), word)) {
            *word += ENTRY_WORDS;
            return true;
        }
    }
    return false;
}

/* Each word of a publication has its index as its value. */
static const char *name_of_stored(uint64_t value)
{
    return value < ENTRY_WORDS + ANCHOR_WORDS ? names[value] : "another value?";
}

static void print_operation(const struct operation *operation, uint64_t number)
{
    char place[32] = "0";
    unsigned copy;
    size_t word;
    print_kind(operation);
    if (operation->kind == FENCE)
        return;
    bool is_in_copy = find_word(operation->address, &copy, &word);
    if (is_in_copy)
        snprintf(place, sizeof(place), "%s+%zu", copy == (number & 1) ? "this" : "next",
                 word * sizeof(uint64_t));
    const char *value = !is_in_copy ? operation->kind == STORE ? "s+1" : "s"
        : operation->kind == STORE  ? name_of_stored(operation->value)
                                    : names[word];
    print("%-13s  %zu  %s\n", place, operation->size, value);
}

static void print_record(uint64_t number)
{
    for (int i = 0; i < recorder.count; i++)
        if (recorder.operation[i].kind != LOAD || !came_before(i))
            print_operation(&recorder.operation[i], number);
}

/* ---- the writer ----------------------------------------------------------------------------- */

static void print_publication(uint64_t number)
{
    uint64_t words[ENTRY_WORDS + ANCHOR_WORDS];
    struct by_cpu_entry entry;
    struct by_cpu_anchor anchor;
    for (uint64_t i = 0; i < ENTRY_WORDS + ANCHOR_WORDS; i++)
        words[i] = i;
    memcpy(&entry, words, sizeof(entry));
    memcpy(&anchor, words + ENTRY_WORDS, sizeof(anchor));
    table.seq = (uint32_t)number;
    print("\npublication\n");
    record(0);
    struct by_cpu_copy *next = by_cpu_next(&table);
    by_cpu_set_entry(next, 0, &entry);
    by_cpu_set_anchor(next, &anchor);
    by_cpu_publish(&table);
    print_record(number);
}

/* ---- the readers ---------------------------------------------------------------------------- */

struct reading {
    const char *name;
    unsigned cpu;
    uint64_t raw; /* the lines begin at 1,000, 2,000 and 3,000, and end at 4,000 */
};

static const struct reading readings[] = {
    {"by CPU, on after", 0, 3500},     {"by CPU, on slew", 0, 2500},
    {"by CPU, on before", 0, 1500},    {"by CPU, past the end", 0, 4500},
    {"by CPU, not in the table", 1, 0},
};

/* The reading by lines sends those without to this one, which looks anew. */
static bool read_as(const struct reading *reading)
{
    uint64_t ticks;
    struct by_cpu_anchor anchor;
    return reading->cpu < CPUS && reading->raw < 4000 ? read_by_lines(&table, &ticks)
                                                      : read_anchor(&table, &anchor);
}

static bool accepts(const struct reading *reading, uint64_t number, int64_t surprise)
{
    struct by_cpu_copy *copy = &table.copy[number & 1];
    table.seq = (uint32_t)number;
    copy->entries[0] = (struct by_cpu_entry){{1000, 0, 0}, {2000, 0, 0}, {3000, 0, 0}, 4000, 1};
    copy->anchor = (struct by_cpu_anchor){.ticks_per_ns = 1};
    machine.cpu = reading->cpu;
    machine.raw = reading->raw;
    record((uint64_t)surprise);
    return read_as(reading) && recorder.looks == 2;
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

/* ---- all of it ------------------------------------------------------------------------------ */

static const char head[] =
    "# What the code does to the table of corrections by CPU, as printed by\n"
    "# tests/model/operations_by_cpu: as operations.txt. A copy is a CPU's entry and the anchor.\n";

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
    recorder.number = &table.seq;
    return list(count, arguments, print_all, OPERATIONS_FILE);
}
