// SPDX-License-Identifier: MIT
#include "probe.hpp"

#include <absl/time/clock.h>

int main(int argc, char **argv)
{
    return probe::run(argc, argv, CLOCK_REALTIME, absl::GetCurrentTimeNanos);
}
