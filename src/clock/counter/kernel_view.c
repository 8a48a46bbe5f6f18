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

/* Leaves `seen` as it is where the file cannot be read. */
static void read_name(const char *path, char *seen, size_t size)
{
    char line[sizeof(((struct counter_clocksource *)0)->available)];
    if (counter_read_line(path, line, size) == 0)
        memcpy(seen, line, size);
}

void counter_look_at_clocksource(struct counter_clocksource *seen, int64_t mono_ns,
                                 int64_t max_age_ns)
{
    int64_t age_ns = mono_ns - seen->looked_ns;
    if (seen->looked_ns != 0 && age_ns >= 0 && age_ns < max_age_ns)
        return;
    seen->looked_ns = mono_ns;
    read_name(FOLDER "current_clocksource", seen->current, sizeof(seen->current));
    read_name(FOLDER "available_clocksource", seen->available, sizeof(seen->available));
}

enum counter_opinion counter_ask_kernel(struct timebase_counter *counter)
{
    struct counter_clocksource seen = {"", "", 0};
    counter_look_at_clocksource(&seen, 0, 0);
    memcpy(counter->kernel_clocksource, seen.current, sizeof(counter->kernel_clocksource));
    memcpy(counter->kernel_available, seen.available, sizeof(counter->kernel_available) - 1);

    enum counter_opinion opinion =
        counter_judge_clocksource(counter->id, seen.current, seen.available);
    if (opinion == COUNTER_OPINION_NONE)
        counter->reasons |= TIMEBASE_REASON_KERNEL_SILENT;
    if (opinion == COUNTER_OPINION_DISTRUSTS)
        counter->reasons |= TIMEBASE_REASON_KERNEL_DISTRUSTS;
    return opinion;
}
