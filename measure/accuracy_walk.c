/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "accuracy_walk.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "accuracy.h"

#define LINE 64
#define PARTS 16
#define CODE_BYTES (256 * 1024) /* eight times a usual first-level cache */
#define LEAST_DATA_BYTES (1024 * 1024)
#define MOST_DATA_BYTES (16 * 1024 * 1024)

static struct {
    unsigned char *data, *code;
    size_t data_bytes, code_bytes; /* code_bytes 0: this processor's jumps are not known here */
    unsigned next_part;
} walk;

static size_t data_bytes_wanted(void)
{
    long second_level = sysconf(_SC_LEVEL2_CACHE_SIZE);
    size_t wanted = second_level > 0 ? 2 * (size_t)second_level : 2 * LEAST_DATA_BYTES;
    if (wanted < LEAST_DATA_BYTES)
        return LEAST_DATA_BYTES;
    return wanted > MOST_DATA_BYTES ? MOST_DATA_BYTES : wanted / (LINE * PARTS) * (LINE * PARTS);
}

/* A jump to the next line, or a return. false: unknown processor. */
static bool write_jump(unsigned char *line, bool last)
{
#if defined(__x86_64__) || defined(__i386__)
    static const unsigned char jump[] = {0xe9, LINE - 5, 0, 0, 0}, leave[] = {0xc3};
    memcpy(line, last ? leave : jump, last ? sizeof leave : sizeof jump);
    return true;
#elif defined(__aarch64__)
    uint32_t instruction = last ? 0xd65f03c0 : 0x14000000 | LINE / 4;
    memcpy(line, &instruction, sizeof instruction);
    return true;
#else
    (void)line, (void)last;
    return false;
#endif
}

/* Each part of the code is a chain of its own. */
static bool write_code(void)
{
    size_t part = CODE_BYTES / PARTS;
    for (size_t at = 0; at < CODE_BYTES; at += LINE)
        if (!write_jump(walk.code + at, at % part == part - LINE))
            return false;
    __builtin___clear_cache((char *)walk.code, (char *)walk.code + CODE_BYTES);
    return mprotect(walk.code, CODE_BYTES, PROT_READ | PROT_EXEC) == 0;
}

static unsigned char *new_memory(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

bool bench_walk_prepare(void)
{
    if (walk.data != NULL)
        return true;
    size_t bytes = data_bytes_wanted();
    unsigned char *data = new_memory(bytes);
    if (data == NULL)
        return false;
    memset(data, 1, bytes); /* so that it has pages of its own, not the zero page many times */
    walk.code = new_memory(CODE_BYTES);
    walk.code_bytes = walk.code != NULL && write_code() ? CODE_BYTES : 0;
    walk.data_bytes = bytes;
    walk.data = data;
    return true;
}

static void walk_over(unsigned part)
{
    size_t bytes = walk.data_bytes / PARTS;
    const volatile unsigned char *data = walk.data + part * bytes;
    for (size_t at = 0; at < bytes; at += LINE)
        (void)data[at];
    if (walk.code_bytes != 0) {
        void (*chain)(void);
        const unsigned char *start = walk.code + part * (walk.code_bytes / PARTS);
        memcpy(&chain, &start, sizeof chain);
        chain();
    }
}

void bench_walk(void)
{
    for (unsigned part = 0; part < PARTS; part++)
        walk_over(part);
}

void bench_walk_part(void)
{
    walk_over(walk.next_part);
    walk.next_part = (walk.next_part + 1) % PARTS;
}
