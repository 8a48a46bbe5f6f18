/* SPDX-License-Identifier: MIT */
/*
 * The header that boot loaders look for (Multiboot Specification 0.6.96). Flags: modules on page
 * boundaries, and the size of the memory is told.
 */
    .set MAGIC, 0x1badb002
    .set FLAGS, 3
    .section .multiboot, "a"
    .balign 4
    .long MAGIC, FLAGS, -(MAGIC + FLAGS)
    .section .note.GNU-stack, "", @progbits
