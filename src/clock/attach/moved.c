/* SPDX-License-Identifier: MIT */
#include "moved.h"

#include <timebase/page.h>

#include "clock/counter/marker.h"

/* If the daemon accounts for no move, its lines are of the present after so many pages: 5 s at the
 * usual pace. */
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
        moved->has_base = false;
        moved->pages = 0;
    }
    if (now.is_known)
        moved->mark = now;
}

static void set_base(struct moved *moved)
{
    moved->base = moved->marker;
    moved->has_base = true;
}

/* By the page's own word. False: it tells nothing, or this reader has seen nothing to compare. */
static bool compare(struct moved *moved)
{
    if (moved->accounted == 0 || !moved->mark.is_known)
        return false;
    bool is_other = moved->accounted != counter_marker(moved->mark.marker, moved->mark.generation);
    if (is_other && !moved->is_moved)
        moved->pages = 0;
    moved->is_moved = is_other;
    set_base(moved); /* for a page that tells nothing, if one comes */
    return true;
}

void moved_note_same(struct moved *moved)
{
    if (!compare(moved) && !moved->has_base)
        set_base(moved);
}

void moved_note_page(struct moved *moved, uint64_t disruption_marker, uint64_t vmclock_marker)
{
    moved->marker = disruption_marker;
    moved->accounted = vmclock_marker;
    if (moved->pages < PAGES_MIN)
        moved->pages++;
    if (compare(moved))
        return;
    if (!moved->has_base)
        set_base(moved);
    else if (disruption_marker != moved->base)
        moved->is_moved = false;
}

uint32_t moved_status(const struct moved *moved, uint32_t status)
{
    if (status == TIMEBASE_STATUS_UNKNOWN)
        return status;
    if (moved->is_doubted || (moved->is_moved && moved->pages < PAGES_MIN))
        return TIMEBASE_STATUS_UNRELIABLE;
    return moved->is_moved && status == TIMEBASE_STATUS_SYNCHRONIZED ? TIMEBASE_STATUS_FREERUNNING
                                                                     : status;
}
