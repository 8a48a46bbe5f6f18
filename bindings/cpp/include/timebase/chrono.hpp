/* SPDX-License-Identifier: MIT */
/*
 * chrono: the process' own clock as <chrono> knows clocks.
 *
 *     utc_clock     Unix time: nanoseconds since 1970-01-01 UTC, leap seconds not counted. It is
 *                   std::chrono::system_clock's time, and converts to it and back
 *     tai_clock     nanoseconds since 1970-01-01 TAI, as CLOCK_TAI. Equal to UTC while nobody has
 *                   told the kernel the offset: instant::tai_offset()
 *     steady_clock  monotonic time: never steps; suspend not counted
 *
 * All three count int64_t nanoseconds, satisfy TrivialClock and is_clock, and are ordered as
 * clock.h says. The readings of an attached clock are time_points of the same three:
 * clock::utc_time(), tai_time(), mono_time().
 *
 * Mind the name: std::chrono::utc_clock of C++20 counts leap seconds, this utc_clock does not.
 * std::chrono::clock_cast knows the difference, where the library has it:
 *
 *     auto exact = std::chrono::clock_cast<std::chrono::tai_clock>(timebase::tai_clock::now());
 */
#ifndef TIMEBASE_CHRONO_HPP
#define TIMEBASE_CHRONO_HPP

#include <chrono>
#include <cstdint>

#include <timebase/clock.h>
#include <timebase/error.hpp>

namespace timebase
{

struct utc_clock {
    using duration = std::chrono::duration<std::int64_t, std::nano>;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<utc_clock, duration>;
    static constexpr bool is_steady = false;

    TIMEBASE_WRAPPER static time_point now() noexcept
    {
        return time_point(duration(::timebase_utc_ns(::timebase_clock_default())));
    }

    /* The same moment of std::chrono::system_clock, and back: clock_cast finds these. */
    template <class Duration>
    static std::chrono::time_point<std::chrono::system_clock, Duration> to_sys(
        const std::chrono::time_point<utc_clock, Duration> &when)
    {
        return std::chrono::time_point<std::chrono::system_clock, Duration>(
            when.time_since_epoch());
    }
    template <class Duration>
    static std::chrono::time_point<utc_clock, Duration> from_sys(
        const std::chrono::time_point<std::chrono::system_clock, Duration> &when)
    {
        return std::chrono::time_point<utc_clock, Duration>(when.time_since_epoch());
    }
};

struct tai_clock {
    using duration = std::chrono::duration<std::int64_t, std::nano>;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<tai_clock, duration>;
    static constexpr bool is_steady = false;

    TIMEBASE_WRAPPER static time_point now() noexcept
    {
        return time_point(duration(::timebase_tai_ns(::timebase_clock_default())));
    }

#if defined(__cpp_lib_chrono) && __cpp_lib_chrono >= 201907L
    /* UTC with its leap seconds was 10 s behind TAI when 1970 began, and is at a fixed distance. */
    template <class Duration>
    static auto to_utc(const std::chrono::time_point<tai_clock, Duration> &when)
    {
        using common = std::common_type_t<Duration, std::chrono::seconds>;
        return std::chrono::utc_time<common>(when.time_since_epoch() - std::chrono::seconds(10));
    }
    template <class Duration> static auto from_utc(const std::chrono::utc_time<Duration> &when)
    {
        using common = std::common_type_t<Duration, std::chrono::seconds>;
        return std::chrono::time_point<tai_clock, common>(when.time_since_epoch() +
                                                          std::chrono::seconds(10));
    }
#endif
};

struct steady_clock {
    using duration = std::chrono::duration<std::int64_t, std::nano>;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<steady_clock, duration>;
    static constexpr bool is_steady = true;

    TIMEBASE_WRAPPER static time_point now() noexcept
    {
        return time_point(duration(::timebase_mono_ns(::timebase_clock_default())));
    }
};

using utc_time = utc_clock::time_point;
using tai_time = tai_clock::time_point;
using mono_time = steady_clock::time_point;

} // namespace timebase

#endif
