/* SPDX-License-Identifier: MIT
 *
 * Cost of one call of every peer, all in one process on one CPU, in interleaved batches: whatever
 * slows the machine down for a while slows every peer down, and the ratio to the bare counter
 * survives it.
 *
 *   driver ROUNDS CALLS CPU   prints one line a peer:  language name min median p90 (ns a call)
 * fell_back after the lines:         tsc_mhz VALUE entry LANGUAGE ns (cost of one batch entry,
 * subtracted)
 */
#include "driver.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define PEERS_MAX 64

/* Abseil reads the kernel's clock until it has 0.5 s of samples, and others may learn too: all
 * peers are called in turn for this long before the first batch that counts. */
#define WARM_UP_NS INT64_C(3000000000)

/* Go's exported functions cannot say const; it hands out C memory once a peer and keeps it. */
static const char *go_peer_name_const(uint32_t peer)
{
    return go_peer_name(peer);
}

static const struct language languages[] = {
    {"C++", cxx_peer_name, cxx_peer_run, cxx_peer_fell_back},
    {"Rust", rust_peer_name, rust_peer_run, rust_peer_fell_back},
    {"Go", go_peer_name_const, go_peer_run, go_peer_fell_back},
};
#define LANGUAGES (sizeof languages / sizeof languages[0])

static struct row rows[PEERS_MAX];
static struct row entries[LANGUAGES]; /* batches of no calls: the price of entering the language */
static size_t row_count;

static void row_add(struct row *row, const struct language *language, uint32_t peer, size_t rounds)
{
    row->language = language;
    row->peer = peer;
    row->ticks = calloc(rounds, sizeof *row->ticks);
    if (!row->ticks)
        die("out of memory");
}

static void list_peers(size_t rounds)
{
    for (size_t l = 0; l < LANGUAGES; l++) {
        row_add(&entries[l], &languages[l], 0, rounds);
        for (uint32_t peer = 0; languages[l].name(peer); peer++) {
            if (row_count == PEERS_MAX)
                die("more peers than PEERS_MAX");
            row_add(&rows[row_count++], &languages[l], peer, rounds);
        }
    }
}

static uint64_t batch_ticks(const struct row *row, uint64_t calls)
{
    uint64_t start = ticks_start();
    uint64_t made = row->language->run(row->peer, calls);
    uint64_t stop = ticks_stop();

    if (made != calls)
        die(row->language->name(row->peer));
    return stop - start;
}

/* The first peer of a round moves on by one each round, so that no peer always follows the same
 * neighbour. */
static void run_round(size_t round, uint64_t calls)
{
    for (size_t l = 0; l < LANGUAGES; l++)
        entries[l].ticks[round] = batch_ticks(&entries[l], 0);
    for (size_t i = 0; i < row_count; i++) {
        struct row *row = &rows[(i + round) % row_count];

        row->ticks[round] = batch_ticks(row, calls);
    }
}

static int by_size(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

/* Sorts the row; share 0.5 is the median. */
static uint64_t at_share(struct row *row, size_t rounds, double share)
{
    qsort(row->ticks, rounds, sizeof *row->ticks, by_size);
    return row->ticks[(size_t)(share * (double)(rounds - 1) + 0.5)];
}

static void print_row(struct row *row, size_t rounds, uint64_t calls, double ns_per_tick)
{
    const struct language *language = row->language;
    uint64_t entry = at_share(&entries[language - languages], rounds, 0.5);
    double scale = ns_per_tick / (double)calls;
    double min = ((double)at_share(row, rounds, 0.0) - (double)entry) * scale;
    double median = ((double)at_share(row, rounds, 0.5) - (double)entry) * scale;
    double p90 = ((double)at_share(row, rounds, 0.9) - (double)entry) * scale;

    printf("%s %s %.3f %.3f %.3f %d\n", language->title, language->name(row->peer), min, median,
        p90, language->fell_back(row->peer));
}

static void warm_up(struct instant begin, uint64_t calls)
{
    fprintf(stderr, "cost: warming up for %d s\n", (int)(WARM_UP_NS / 1000000000));
    do
        run_round(0, calls); /* the round 0 that counts overwrites these */
    while (instant_now().mono_ns - begin.mono_ns < WARM_UP_NS);
}

static void print_results(size_t rounds, uint64_t calls, double ns_per_tick)
{
    for (size_t i = 0; i < row_count; i++)
        print_row(&rows[i], rounds, calls, ns_per_tick);
    printf("tsc_mhz %.3f\n", 1000.0 / ns_per_tick);
    for (size_t l = 0; l < LANGUAGES; l++)
        printf("entry %s %.1f\n", languages[l].title,
            (double)at_share(&entries[l], rounds, 0.5) * ns_per_tick);
}

static unsigned long number(const char *text, unsigned long min, unsigned long max)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);

    if (errno || *end || end == text || text[0] == '-' || value < min || value > max) {
        fprintf(stderr, "driver: '%s' is not a number from %lu to %lu\n", text, min, max);
        exit(1);
    }
    return value;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: driver ROUNDS CALLS CPU\n");
        return 1;
    }
    size_t rounds = number(argv[1], 1, 1000000);
    uint64_t calls = number(argv[2], 1, 1000000);

    list_peers(rounds);
    pin_to_cpu((int)number(argv[3], 0, 1023));
    struct instant begin = instant_now();
    warm_up(begin, calls);
    for (size_t round = 0; round < rounds; round++) {
        run_round(round, calls);
        if ((round + 1) % 500 == 0)
            fprintf(stderr, "cost: round %zu of %zu\n", round + 1, rounds);
    }
    print_results(rounds, calls, period_ns(begin, instant_now()));
    return 0;
}
