/* SPDX-License-Identifier: MIT */
/*
 * target: what a fuzz target is. A file NAME.c here with one function, which gets any bytes and
 * ends the program if something is wrong:
 *
 *     - libFuzzer calls it (scripts/fuzz), with address and undefined-behaviour sanitizers;
 *     - replay.c calls it with each file of corpus/NAME in every test run, on every processor.
 *
 * It is linked with the whole library. Other sources of the project that it needs are named in it,
 * relative to the top, on a line of a comment that begins with "fuzz-sources:". A line "fuzz-runs:"
 * says how many inputs `make test` tries: what takes some 5 s of a processor. It is a number and not
 * a time, so that a slow machine tries as many.
 */
#ifndef FUZZ_TARGET_H
#define FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#endif
