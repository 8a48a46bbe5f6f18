/* SPDX-License-Identifier: MIT */
/*
 * moved: a guest that was stopped, migrated or restored has lines of another stretch of time, until
 * its daemon has seen that too. The hypervisor's page tells the reader itself (witness.h).
 *
 *     moved_look(&moved)                   at each look, before the daemon's page is copied
 *     moved_note_page(&moved, marker)      with each page that was copied
 *     if moved_distrusts(&moved)           the lines are UNRELIABLE
 */
#ifndef CLOCK_MOVED_H
#define CLOCK_MOVED_H

#include "witness.h"

struct moved {
    struct witness witness;
    struct witness_mark mark; /* of the newest look */
    bool is_told;             /* the hypervisor calls its own clock unreliable */
    bool is_moved;            /* and the daemon has not published it */
    uint64_t marker;          /* disruption_marker of the page that was copied last */
    unsigned pages;           /* copied since the move, with the old marker */
};

/* Once; harmless where there is no hypervisor's page. */
void moved_open(struct moved *moved, const char *device);
void moved_close(struct moved *moved);

void moved_look(struct moved *moved);

/*
 * The daemon has published a disruption: the lines are of this stretch of time. A daemon that does
 * not read the hypervisor's page never says so; its lines are believed after a while.
 */
void moved_note_page(struct moved *moved, uint64_t disruption_marker);

bool moved_distrusts(const struct moved *moved);

#endif
