/* SPDX-License-Identifier: MIT */
#include "moved.h"

#include <timebase/page.h>

/* If the daemon publishes no disruption, its lines are of the present after so many pages: 5 s at
 * the usual pace. */
#define PAGES_MIN 20

void moved_open(struct moved *moved, const char *device)
{
    witness_open(&moved->witness, device);
    witness_read(&moved->witness, &moved->mark);
}

void moved_close(struct moved *moved)
{
    witness_close(&moved->witness);
}

void moved_look(struct moved *moved)
{
    struct witness_mark now;
    witness_read(&moved->witness, &now);
    enum witness_seen seen = witness_compare(&moved->mark, &now);
    moved->is_doubted = seen == WITNESS_UNRELIABLE || seen == WITNESS_UPDATING;
    if (seen == WITNESS_MOVED) {
        moved->is_moved = true;
        moved->pages = 0;
    }
    if (now.is_known)
        moved->mark = now;
}

void moved_note_page(struct moved *moved, uint64_t disruption_marker)
{
    bool is_published = disruption_marker != moved->marker;
    moved->marker = disruption_marker;
    if (moved->pages < PAGES_MIN)
        moved->pages++;
    if (is_published)
        moved->is_moved = false;
}

uint32_t moved_status(const struct moved *moved, uint32_t status)
{
    if (moved->is_doubted || (moved->is_moved && moved->pages < PAGES_MIN))
        return TIMEBASE_STATUS_UNRELIABLE;
    return moved->is_moved && status == TIMEBASE_STATUS_SYNCHRONIZED ? TIMEBASE_STATUS_FREERUNNING
                                                                     : status;
}
