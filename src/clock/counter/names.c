/* SPDX-License-Identifier: MIT */
/* What people call the counters, their classes, and the sources of their frequency. */
#include <stddef.h>

#include <timebase/counter.h>

TIMEBASE_API const char *timebase_counter_name(int id)
{
    switch (id) {
    case TIMEBASE_COUNTER_ARM_VCNT:
        return "CNTVCT";
    case TIMEBASE_COUNTER_X86_TSC:
        return "TSC";
    case TIMEBASE_COUNTER_POWER_TB:
        return "Time Base";
    case TIMEBASE_COUNTER_RISCV_TIME:
        return "time";
    case TIMEBASE_COUNTER_S390_TOD:
        return "TOD";
    case TIMEBASE_COUNTER_OS:
        return "OS clock";
    case TIMEBASE_COUNTER_BY_CPU:
        return "counter corrected by CPU";
    default:
        return "unknown";
    }
}

static const char *name_of(const char *const *names, size_t count, int index)
{
    return index >= 0 && (size_t)index < count ? names[index] : "unknown";
}

TIMEBASE_API const char *timebase_counter_class_name(int counter_class)
{
    static const char *const names[] = {
        [TIMEBASE_CLASS_UNKNOWN] = "unknown",   [TIMEBASE_CLASS_NONE] = "none",
        [TIMEBASE_CLASS_CONSTANT] = "constant", [TIMEBASE_CLASS_INVARIANT] = "invariant",
        [TIMEBASE_CLASS_NON_STOP] = "non-stop",
    };
    return name_of(names, sizeof(names) / sizeof(names[0]), counter_class);
}

TIMEBASE_API const char *timebase_frequency_source_name(int source)
{
    static const char *const names[] = {
        [TIMEBASE_FREQUENCY_MEASURED] = "measured",
        [TIMEBASE_FREQUENCY_ARCHITECTED] = "architecture",
        [TIMEBASE_FREQUENCY_REGISTER] = "CNTFRQ_EL0",
        [TIMEBASE_FREQUENCY_CPUID] = "CPUID",
        [TIMEBASE_FREQUENCY_HYPERVISOR] = "hypervisor",
        [TIMEBASE_FREQUENCY_C_LIBRARY] = "C library",
        [TIMEBASE_FREQUENCY_DEVICE_TREE] = "device tree",
        [TIMEBASE_FREQUENCY_CPUINFO] = "/proc/cpuinfo",
    };
    return name_of(names, sizeof(names) / sizeof(names[0]), source);
}
