/* SPDX-License-Identifier: MIT */
/* Tables as in the ACPI Specification 6.4, chapter 5; the HPET's by the HPET Specification 1.0a. */
#include "acpi.h"

#include <stddef.h>
#include <string.h>

struct root_pointer {
    char signature[8];
    uint8_t checksum;
    char maker[6];
    uint8_t revision;
    uint32_t table;
} __attribute__((packed));

struct table {
    char signature[4];
    uint32_t length;
    uint8_t revision, checksum;
    char maker[6];
    char id[8];
    uint32_t maker_revision, tool, tool_revision;
} __attribute__((packed));

enum {
    PROCESSOR_FIRST = 44, /* of the interrupt controllers' table: its entries */
    HPET_ADDRESS = 44,    /* of the HPET's table: a 64-bit address */
    PM_TIMER_PORT = 76,   /* of the fixed description: a 32-bit port */
    FIXED_FLAGS = 112,
    WIDE_TIMER = 1 << 8, /* of these flags */
};

static bool sums_to_zero(const void *start, size_t size)
{
    const uint8_t *bytes = start;
    uint8_t sum = 0;
    for (size_t i = 0; i < size; i++)
        sum = (uint8_t)(sum + bytes[i]);
    return sum == 0;
}

static const struct root_pointer *find_root_in(uintptr_t from, uintptr_t to)
{
    for (uintptr_t at = from; at + sizeof(struct root_pointer) <= to; at += 16)
        if (memcmp((const void *)at, "RSD PTR ", 8) == 0 && sums_to_zero((const void *)at, 20))
            return (const struct root_pointer *)at;
    return NULL;
}

/* In the first KiB of the extended BIOS data, whose segment is at 0x40e, or in the BIOS itself. */
static const struct root_pointer *find_root(void)
{
    uintptr_t cell = 0x40e;
    __asm__("" : "+r"(cell)); /* an address that the compiler would not believe */
    uintptr_t data = (uintptr_t)(*(const volatile uint16_t *)cell) << 4;
    const struct root_pointer *found = find_root_in(data, data + 1024);
    return found != NULL ? found : find_root_in(0xe0000, 0x100000);
}

static uint32_t word_at(const struct table *table, size_t offset)
{
    uint32_t word;
    memcpy(&word, (const char *)table + offset, sizeof(word));
    return word;
}

static unsigned count_cpus(const struct table *table)
{
    enum { LOCAL_APIC = 0, ENABLED = 1 };
    const uint8_t *at = (const uint8_t *)table + PROCESSOR_FIRST;
    const uint8_t *end = (const uint8_t *)table + table->length;
    unsigned cpus = 0;
    for (; at + 2 <= end && at[1] >= 2 && at + at[1] <= end; at += at[1])
        cpus += at[0] == LOCAL_APIC && at[1] >= 8 && (at[4] & ENABLED) != 0;
    return cpus;
}

static void take(struct acpi *acpi, const struct table *table)
{
    if (!sums_to_zero(table, table->length))
        return;
    if (memcmp(table->signature, "APIC", 4) == 0)
        acpi->cpus = count_cpus(table);
    else if (memcmp(table->signature, "HPET", 4) == 0 && word_at(table, HPET_ADDRESS + 4) == 0)
        acpi->hpet = word_at(table, HPET_ADDRESS);
    else if (memcmp(table->signature, "FACP", 4) == 0 && table->length >= FIXED_FLAGS + 4) {
        acpi->pm_timer = (uint16_t)word_at(table, PM_TIMER_PORT);
        acpi->pm_timer_is_wide = (word_at(table, FIXED_FLAGS) & WIDE_TIMER) != 0;
    }
}

/* The table of 32-bit addresses, which all firmware still has beside the one of 64 bits. */
void acpi_find(struct acpi *acpi)
{
    const struct root_pointer *root = find_root();
    memset(acpi, 0, sizeof(*acpi));
    if (root == NULL || root->table == 0)
        return;
    const struct table *tables = (const struct table *)(uintptr_t)root->table;
    acpi->is_there = true;
    memcpy(acpi->maker, root->maker, sizeof(root->maker));
    for (size_t at = sizeof(*tables); at + 4 <= tables->length; at += 4)
        take(acpi, (const struct table *)(uintptr_t)word_at(tables, at));
}
