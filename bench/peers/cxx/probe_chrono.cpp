// SPDX-License-Identifier: MIT
//
// std::chrono reads the very clocks that are the reference: its error shows what the measurement
// can resolve.
#include "probe.hpp"

#include <chrono>

template <class Clock> static int64_t ns()
{
    using namespace std::chrono;
    return duration_cast<nanoseconds>(Clock::now().time_since_epoch()).count();
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "system") == 0)
        return probe::run(argc, argv, CLOCK_REALTIME, ns<std::chrono::system_clock>);
    if (argc > 1 && strcmp(argv[1], "steady") == 0)
        return probe::run(argc, argv, CLOCK_MONOTONIC, ns<std::chrono::steady_clock>);
    return probe::unknown_clock(argv[0], "system steady");
}
