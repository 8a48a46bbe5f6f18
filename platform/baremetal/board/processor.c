/* SPDX-License-Identifier: MIT */
#include "processor.h"

#include <cpuid.h>
#include <string.h>

#include "msr.h"

#define CR0_CD (1u << 30)
#define CR0_NW (1u << 29)

static void words_to_text(char *text, uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t words[3] = {a, b, c};
    memcpy(text, words, sizeof(words));
    text[12] = 0;
}

static void ask_brand(char brand[49])
{
    uint32_t words[12] = {0};
    for (uint32_t i = 0; i < 3; i++)
        __get_cpuid(0x80000002 + i, &words[4 * i], &words[4 * i + 1], &words[4 * i + 2],
                    &words[4 * i + 3]);
    memcpy(brand, words, sizeof(words));
    brand[48] = 0;
}

/* CPUID 0x15: the crystal and the ratio of the TSC to it. */
static uint64_t ask_frequency(void)
{
    uint32_t a, b, c, d;
    if (!__get_cpuid(0x15, &a, &b, &c, &d) || a == 0 || b == 0 || c == 0)
        return 0;
    return (uint64_t)c * b / a;
}

/* MSR_SMI_COUNT is Intel's, since Nehalem (family 6); reading it is tried all the same. */
void processor_ask(struct processor *processor)
{
    uint32_t a, b, c, d, a1 = 0, c1 = 0, d1 = 0, extended = 0, power = 0;
    __cpuid(0, a, b, c, d);
    words_to_text(processor->vendor, b, d, c);
    if (__get_cpuid(1, &a1, &b, &c1, &d1))
        processor->signature = a1;
    if (__get_cpuid(0x80000001, &a, &b, &c, &d))
        extended = d;
    if (__get_cpuid(0x80000007, &a, &b, &c, &d))
        power = d;
    ask_brand(processor->brand);
    if (c1 >> 31 & 1) {
        __cpuid(0x40000000, a, b, c, d);
        words_to_text(processor->hypervisor, b, c, d);
    }
    processor->claimed_hz = ask_frequency();
    processor->has_apic = d1 >> 9 & 1;
    processor->has_deadline = c1 >> 24 & 1;
    processor->has_rdtscp = extended >> 27 & 1;
    processor->is_invariant = power >> 8 & 1;
    processor->has_smi_count = memcmp(processor->vendor, "GenuineIntel", 12) == 0;
}

static void set_no_fill(bool on)
{
    uintptr_t cr0;
    __asm__ __volatile__("mov %%cr0, %0" : "=r"(cr0));
    cr0 &= ~(uintptr_t)(CR0_CD | CR0_NW);
    if (on)
        cr0 |= CR0_CD;
    __asm__ __volatile__("mov %0, %%cr0\n\twbinvd" : : "r"(cr0) : "memory");
}

/* The memory types that the processor keeps with its translations are dropped, too. */
static void set_memory_types(uint64_t types)
{
    uintptr_t cr3;
    msr_write(MSR_MTRR_DEFAULT, types);
    __asm__ __volatile__("mov %%cr3, %0\n\tmov %0, %%cr3\n\twbinvd" : "=r"(cr3) : : "memory");
}

void caches_switch(bool on)
{
    static uint64_t firmwares_types;
    static bool has_types;
    if (on) {
        if (has_types)
            set_memory_types(firmwares_types);
        set_no_fill(false);
    } else {
        set_no_fill(true);
        has_types = msr_try_read(MSR_MTRR_DEFAULT, &firmwares_types);
        if (has_types)
            set_memory_types(0); /* disabled: uncached, all of it */
    }
}
