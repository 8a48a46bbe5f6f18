/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

void (*work)(void);
int work_once;

static int scratch;

static void do_nothing(void)
{
}

/* Takes more code than the innermost cache holds together with a wait's. */
static void write_lines(void)
{
    enum { NUMBERS = 10 };
    char line[128];
    for (int i = 0; i < NUMBERS; i++)
        snprintf(line, sizeof(line), "%.2f %.3f %d\n", between(-1e3, 1e3), between(0, 1), i);
    if (pwrite(scratch, line, strlen(line), 0) < 0)
        fail("no line can be written");
}

static void walk(void)
{
    enum { BYTES = 8 << 20, LINE = 64 };
    static volatile unsigned char memory[BYTES];
    for (int at = 0; at < BYTES; at += LINE)
        memory[at]++;
}

/* Others' caches are full of it, too: for the CPU beside the trials', until it is ended. */
void walk_for_ever(void)
{
    enum { BYTES = 64 << 20, LINE = 64 };
    volatile unsigned char *memory = (volatile unsigned char *)calloc(1, BYTES);
    if (memory == NULL)
        fail("no memory to walk through");
    for (size_t at = 0;; at = (at + LINE) % BYTES)
        memory[at]++;
}

/* Another program had the core meanwhile, or nobody. */
static void rest(void)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    nanosleep(&pause, NULL);
}

void find_work(const char *name)
{
    static const struct {
        const char *name;
        void (*work)(void);
        int once;
    } works[] = {{"nothing", do_nothing, 0}, {"lines", write_lines, 0},   {"memory", walk, 0},
                 {"pause", rest, 0},         {"memory-series", walk, 1},  {"pause-series", rest, 1}};
    for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++)
        if (strcmp(works[i].name, name) == 0) {
            work = works[i].work;
            work_once = works[i].once;
        }
    if (work == NULL)
        fail("no such work between trials");
    scratch = memfd_create("by_turns", MFD_CLOEXEC);
}
