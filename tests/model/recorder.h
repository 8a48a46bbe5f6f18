/* SPDX-License-Identifier: MIT */
/*
 * recorder: included before the code to be recorded, whose atomic builtins it replaces by ones that
 * also write down what they did. The second look at the number can be made to see another one.
 */
#ifndef MODEL_RECORDER_H
#define MODEL_RECORDER_H

#include <stddef.h>
#include <stdint.h>

/* Before the builtins are replaced: what a reading of the counter does is no part of the page. */
#include <timebase/counter.h>

enum kind { LOAD, STORE, FENCE };

struct operation {
    enum kind kind;
    int order;
    const void *address;
    size_t size;
    uint64_t value; /* loaded or stored */
};

enum { OPERATIONS_MAX = 4000 };

struct recorder {
    struct operation operation[OPERATIONS_MAX];
    int count;
    const void *number; /* the page's seq, or the half of it that readers take */
    int looks;          /* loads of it so far */
    uint64_t surprise;  /* what the second of them sees more */
};

static struct recorder recorder;

static uint64_t recorder_note(enum kind kind, int order, const void *address, size_t size,
                              uint64_t value)
{
    struct operation operation = {kind, order, address, size, value};
    if (kind == LOAD && address == recorder.number && ++recorder.looks == 2)
        operation.value += recorder.surprise;
    if (recorder.count < OPERATIONS_MAX)
        recorder.operation[recorder.count++] = operation;
    return operation.value;
}

#define __atomic_load_n(address, order)                                                            \
    ((__typeof__(+*(address)))recorder_note(LOAD, (order), (address), sizeof(*(address)),          \
                                            *(address)))
#define __atomic_store_n(address, value, order)                                                    \
    (recorder_note(STORE, (order), (address), sizeof(*(address)), (value)),                        \
     (void)(*(address) = (value)))
#define __atomic_thread_fence(order) ((void)recorder_note(FENCE, (order), NULL, 0, 0))

#endif
