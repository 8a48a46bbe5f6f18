// SPDX-License-Identifier: MIT
// now: the same headers in C++17, as a clock for <chrono>.
#include <chrono>
#include <cstdint>
#include <iostream>

#include <timebase.h>

// Meets the requirements of TrivialClock; steady: monotonic time is slewed, never stepped.
struct SteadyClock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<SteadyClock>;
    static constexpr bool is_steady = true;

    static time_point now() noexcept
    {
        return time_point(duration(timebase_mono_ns(timebase_clock_default())));
    }
};

int main()
{
    timebase_instant now;
    timebase_now(timebase_clock_default(), &now);
    std::cout << "UTC " << now.utc_ns << " ns, +/- " << now.maxerror_ns
              << " ns from the system clock, "
              << timebase_status_name(static_cast<int>(now.flags & TIMEBASE_LINE_STATUS_MASK))
              << '\n';

    const auto start = SteadyClock::now();
    volatile std::uint64_t sum = 0;
    for (int i = 0; i < 1000; i++)
        sum = sum + static_cast<std::uint64_t>(i);
    const std::chrono::duration<double, std::micro> elapsed = SteadyClock::now() - start;
    std::cout << "a thousand additions: " << elapsed.count() << " us\n";
    return elapsed.count() >= 0 ? 0 : 1;
}
