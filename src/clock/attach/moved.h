/* SPDX-License-Identifier: MIT */
/*
 * moved: what a reader does after its guest was stopped, migrated or restored. The lines are then
 * of another stretch of time, until the daemon has noticed too. The hypervisor's page tells the
 * reader directly (witness.h). spec/page.md, "Moves", has the rule.
 *
 *     moved_look(&moved)                   at each look, before the daemon's page is looked at
 *     moved_note_same(&moved)              if it is the page that was copied last
 *     moved_note_page(&moved, ...)         with each page that was copied
 *     moved_status(&moved, status)         what is left of the status of a line
 */
#ifndef CLOCK_MOVED_H
#define CLOCK_MOVED_H

#include "witness.h"

struct moved {
    struct witness witness;
    struct witness_mark mark; /* of the newest look that could be read */
    bool is_doubted;          /* that look: the hypervisor calls its own clock unreliable, or was
                               * writing its page */
    bool is_moved;            /* and the lines do not account for it */
    uint64_t accounted;       /* vmclock_marker of the page that was copied last */
    uint64_t marker;          /* disruption_marker of this page */
    bool has_base;            /* the page in force at the look that saw the newest move is known: */
    uint64_t base;            /* its disruption_marker */
    unsigned pages;           /* copied since the move, up to those that are enough */
};

/* Once; harmless where there is no hypervisor's page. */
void moved_open(struct moved *moved, const char *device);
void moved_close(struct moved *moved);

void moved_look(struct moved *moved);
void moved_note_same(struct moved *moved);

/*
 * A page that tells what its lines account for is believed: the reader's own mark or another. One
 * that tells nothing is heard when it publishes a disruption after the look that saw the move. What
 * this look found in the file, or what was published while it could not be read, may be an older
 * disruption.
 */
void moved_note_page(struct moved *moved, uint64_t disruption_marker, uint64_t vmclock_marker);

/*
 * UNRELIABLE while the hypervisor says so or is writing its page, and after a move. A daemon that
 * does not read the hypervisor's page may never publish the move. After a while its lines follow
 * the kernel's clock again, and maxerror, which is against that clock, holds. But the kernel's
 * clock may have stood still, so UTC is not promised: SYNCHRONIZED becomes FREERUNNING until the
 * lines account for the move.
 */
uint32_t moved_status(const struct moved *moved, uint32_t status);

#endif
