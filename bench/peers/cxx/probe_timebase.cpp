// SPDX-License-Identifier: MIT
#include "probe.hpp"

#include <timebase.h>

static bool fell_back()
{
    return timebase_counter_id() == TIMEBASE_COUNTER_OS;
}

static int64_t utc_ns()
{
    return timebase_utc_ns(timebase_clock_default());
}

static int64_t mono_ns()
{
    return timebase_mono_ns(timebase_clock_default());
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "utc") == 0)
        return probe::run(argc, argv, CLOCK_REALTIME, utc_ns, fell_back);
    if (argc > 1 && strcmp(argv[1], "mono") == 0)
        return probe::run(argc, argv, CLOCK_MONOTONIC, mono_ns, fell_back);
    return probe::unknown_clock(argv[0], "utc mono");
}
