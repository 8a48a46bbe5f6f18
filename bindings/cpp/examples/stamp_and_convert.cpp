// SPDX-License-Identifier: MIT
// stamp_and_convert: log raw ticks where every nanosecond counts, convert them afterwards.
#include <array>
#include <iostream>

#include <timebase.hpp>

int main()
{
    const timebase::clock clock;
    std::array<std::uint64_t, 5> stamps;

    // Now: a register is read, nothing else.
    for (std::uint64_t &stamp : stamps)
        stamp = timebase::ticks_ordered();

    // Later, in this or another thread: a tick means the same time whoever converts it.
    const std::int64_t first_ns = clock.mono_at_ns(stamps[0]);
    for (const std::uint64_t stamp : stamps) {
        const timebase::instant event = clock.at(stamp);
        std::cout << "tick " << event.ticks << " = " << event.utc_ns << " ns UTC +/- "
                  << event.maxerror_ns << ", " << event.mono_ns - first_ns
                  << " ns after the first\n";
    }

    // The way back: at which tick will it be a second later? The bound says how sure that is.
    const std::uint64_t then = clock.ticks_at_mono(first_ns + 1000000000);
    std::cout << "a second after the first: tick " << then << ", +/- " << clock.at(then).maxerror_ns
              << " ns\n";
}
