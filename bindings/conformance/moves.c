/* SPDX-License-Identifier: MIT */
/*
 * moves FILE: what the C reader says of each step of the history in bindings/conformance/moves.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <timebase/page.h>

#include "clock/attach/moved.h"

static unsigned char page[WITNESS_PAGE_SIZE] __attribute__((aligned(4096)));

static void put(size_t at, unsigned width, unsigned long long value)
{
    for (unsigned i = 0; i < width; i++)
        page[at + i] = (unsigned char)(value >> 8 * i);
}

static void fill(const unsigned long long n[6])
{
    memset(page, 0, sizeof(page));
    put(0x00, 4, 0x4b4c4356);
    put(0x04, 4, n[4]);
    put(0x08, 2, 1);
    put(0x0c, 4, n[0]);
    put(0x10, 8, n[1]);
    put(0x18, 8, n[3]);
    put(0x22, 1, n[5]);
    put(0x68, 8, n[2]);
}

/* What is left of a promise. */
static const char *verdict(const struct moved *moved)
{
    switch (moved_status(moved, TIMEBASE_STATUS_SYNCHRONIZED)) {
    case TIMEBASE_STATUS_SYNCHRONIZED:
        return "trusted";
    case TIMEBASE_STATUS_FREERUNNING:
        return "freerunning";
    default:
        return "unreliable";
    }
}

/* One step; 0 if the line is none. */
static int step(struct moved *moved, const char *line)
{
    unsigned long long n[6] = {0};
    char event[8];
    int found = sscanf(line, "%7s %llu %llu %llu %llu %llu %llu", event, &n[0], &n[1], &n[2], &n[3],
                       &n[4], &n[5]);
    bool is_same = found == 7 && strcmp(event, "vm") == 0;
    if (is_same || (found == 7 && strcmp(event, "look") == 0)) {
        fill(n);
        moved->witness.page = page;
        moved_look(moved);
        if (is_same)
            moved_note_same(moved);
        return 1;
    }
    if (strcmp(event, "page") != 0 || found < 3 || found > 4)
        return 0;
    for (unsigned long long i = 0; i < n[1]; i++)
        moved_note_page(moved, n[0], n[2]);
    return 1;
}

int main(int argc, char **argv)
{
    struct moved moved = {0};
    char line[200];
    unsigned steps = 0;
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (file == NULL) {
        fprintf(stderr, "usage: moves bindings/conformance/moves\n");
        return 2;
    }
    while (fgets(line, sizeof(line), file) != NULL) {
        if (line[0] == '#' || line[0] == '\n')
            continue;
        const char *arrow = strstr(line, "->");
        char said[20];
        if (arrow == NULL || sscanf(arrow, "-> %19s", said) != 1 || !step(&moved, line)) {
            fprintf(stderr, "moves: no step: %s", line);
            return 2;
        }
        if (strcmp(said, verdict(&moved)) != 0) {
            fprintf(stderr, "moves: C says %s after: %s", verdict(&moved), line);
            return 1;
        }
        steps++;
    }
    fclose(file);
    printf("%u steps\n", steps);
    return steps < 20;
}
