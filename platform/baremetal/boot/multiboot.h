/* SPDX-License-Identifier: MIT */
/* multiboot: what the boot loader tells (Multiboot Specification 0.6.96, "Boot information"). */
#ifndef BOOT_MULTIBOOT_H
#define BOOT_MULTIBOOT_H

#include <stdint.h>

#define MULTIBOOT_LOADED 0x2badb002
#define MULTIBOOT_HAS_MEMORY 1u
#define MULTIBOOT_HAS_COMMAND_LINE 4u

struct multiboot_info {
    uint32_t flags;
    uint32_t lower_kib; /* memory from 0 */
    uint32_t upper_kib; /* memory from 1 MiB to the first hole */
    uint32_t boot_device;
    uint32_t command_line; /* address of text */
};

#endif
