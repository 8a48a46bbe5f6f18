/* SPDX-License-Identifier: MIT
 *
 * The batches of a peer, and their order statistic.
 */
#ifndef PEERS_DRIVER_H
#define PEERS_DRIVER_H

#include "instruments.h"
#include "peers.h"

#include <stddef.h>

struct language {
    const char *title;
    const char *(*name)(uint32_t peer);
    uint64_t (*run)(uint32_t peer, uint64_t calls);
    int32_t (*fell_back)(uint32_t peer);
};

struct row {
    const struct language *language;
    uint32_t peer;
    uint64_t *ticks; /* one batch a round */
};

#endif
