/* SPDX-License-Identifier: MIT */
/*
 * The plain loop on x86-64, as an end of approach_from(). Not in x86_64_from.S: no wait in a hurry has it.
 *
 *     int approach_poll_bare(struct approach *)
 *         a reading between the loop and the return, which waits for the polls' end, is the stamp; and while it takes its time, what follows is fetched. So it is no
 *         worse than the loop that users write, and on a shared core steadier;
 *     int approach_poll_never_early(struct approach *)
 *         the same of one that must not be early: its last poll is its stamp. Behind another reading it
 *         would be later by that.
 */

#ifdef __x86_64__

#include "x86_64_offsets.h"

    .section .text.hot.timebase_wait, "ax", @progbits

    .macro poll name, stamp
    begin_function \name
    begin_to_poll %rdi
    poll_until_near
    poll_until_leave
    \stamp
    movq %rax, EVENT_TICKS(%rdi)
    movl %r9d, %eax
    ret
    end_function \name
    .endm

    poll approach_poll_bare, stamp_behind
    poll approach_poll_never_early, last_poll_is_the_stamp

#endif

    .section .note.GNU-stack, "", %progbits
