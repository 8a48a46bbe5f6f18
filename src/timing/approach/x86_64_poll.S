/* SPDX-License-Identifier: MIT */
/*
 * Loops on x86-64, as ends of approach_from(), that no usual wait in a hurry has; these are in x86_64_from.S.
 *
 *     int approach_poll_bare(struct approach *)
 *         a reading between the loop and the return, which waits for the polls' end, is the stamp; and while it takes its time, what follows is fetched. So it is no
 *         worse than the loop that users write, and on a shared core steadier;
 *     int approach_poll_never_early(struct approach *)
 *         the same of one that must not be early: its last poll is its stamp. Behind another reading it
 *         would be later by that;
 *     int approach_hurry_never_early(struct approach *), approach_hurry_never_early_and_look
 *         those of a wait in a hurry that must not be early.
 */

#ifdef __x86_64__

#include "x86_64_offsets.h"

    .section .text.hot.timebase_wait, "ax", @progbits

    .macro poll name, may_be_early
    begin_function \name
    begin_to_poll %rdi
    poll_until_near
    loop_to_stamp %rdi, \may_be_early
    movq %rax, EVENT_TICKS(%rdi)
    movl %r9d, %eax
    ret
    end_function \name
    .endm

    poll approach_poll_bare, 1
    poll approach_poll_never_early, 0
    hurry approach_hurry_never_early, 0
    hurry approach_hurry_never_early_and_look, 0, poll_until_near

#endif

    .section .note.GNU-stack, "", %progbits
