/* SPDX-License-Identifier: MIT */
/*
 * What the kernel thinks of the counter. The kernel does not say so. It shows it by its
 * clocksource: it uses the processor's counter unless it has found a fault in it.
 */
#include <string.h>

#include "probe.h"

#define FOLDER "/sys/devices/system/clocksource/clocksource0/"

/*
 * Names of Linux clocksources. `rivals` are those that the kernel takes in place of this counter
 * and of no other. They prove distrust even when the counter is not among the available ones: a
 * kernel with high-resolution timers strikes an unstable TSC off that list.
 */
struct names {
    int id;
    const char *own;
    const char *paravirtual; /* read the same counter, scaled by the hypervisor */
    const char *rivals;
};

static const struct names table[] = {
    {TIMEBASE_COUNTER_X86_TSC, "tsc tsc-early", "kvm-clock xen hyperv_clocksource_tsc_page",
     "hpet acpi_pm pit jiffies refined-jiffies hyperv_clocksource_msr"},
    {TIMEBASE_COUNTER_POWER_TB, "timebase", "", ""},
    {TIMEBASE_COUNTER_ARM_VCNT, "arch_sys_counter", "arch_mem_counter", ""},
    {TIMEBASE_COUNTER_RISCV_TIME, "riscv_clocksource", "clint_clocksource", ""},
    {TIMEBASE_COUNTER_S390_TOD, "tod", "", ""},
};

/* Is the word among the blank-separated ones of the list? */
static int contains(const char *list, const char *word, size_t length)
{
    while (*list != '\0') {
        size_t next = strcspn(list, " ");
        if (next > 0 && next == length && memcmp(list, word, length) == 0)
            return 1;
        list += next + (list[next] == ' ');
    }
    return 0;
}

static int share_a_word(const char *list, const char *words)
{
    while (*words != '\0') {
        size_t next = strcspn(words, " ");
        if (contains(list, words, next))
            return 1;
        words += next + (words[next] == ' ');
    }
    return 0;
}

static const struct names *find_names(int id)
{
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (table[i].id == id)
            return &table[i];
    return NULL;
}

enum counter_opinion counter_judge_clocksource(int id, const char *current, const char *available)
{
    const struct names *names = find_names(id);
    if (id == TIMEBASE_COUNTER_OS)
        return COUNTER_OPINION_TRUSTS; /* it is the kernel's clock, whatever that is made of */
    if (names == NULL || *current == '\0')
        return COUNTER_OPINION_NONE;
    if (share_a_word(names->own, current))
        return COUNTER_OPINION_TRUSTS;
    if (share_a_word(names->paravirtual, current))
        return COUNTER_OPINION_NEUTRAL;
    if (share_a_word(names->rivals, current) || share_a_word(names->own, available))
        return COUNTER_OPINION_DISTRUSTS;
    /* The kernel of some other processor, which runs an emulator with us in it. */
    return COUNTER_OPINION_NONE;
}

enum counter_opinion counter_ask_kernel(struct timebase_counter *counter)
{
    counter_read_line(FOLDER "current_clocksource", counter->kernel_clocksource,
                      sizeof(counter->kernel_clocksource));
    counter_read_line(FOLDER "available_clocksource", counter->kernel_available,
                      sizeof(counter->kernel_available));

    enum counter_opinion opinion = counter_judge_clocksource(
        counter->id, counter->kernel_clocksource, counter->kernel_available);
    if (opinion == COUNTER_OPINION_NONE)
        counter->reasons |= TIMEBASE_REASON_KERNEL_SILENT;
    if (opinion == COUNTER_OPINION_DISTRUSTS)
        counter->reasons |= TIMEBASE_REASON_KERNEL_DISTRUSTS;
    return opinion;
}
