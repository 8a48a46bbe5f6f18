/* SPDX-License-Identifier: MIT */
/*
 * interval: what can be said of two events when neither time is exact. As interval.h.
 *
 *     timebase::interval a = timebase::utc_interval();
 *     ...                                            // on another machine: b
 *     if (a.before(b))
 *         ... a was first, whatever the clocks' errors ...
 *
 * There is no operator<: of two intervals that overlap neither is less, and they are not equal.
 */
#ifndef TIMEBASE_INTERVAL_HPP
#define TIMEBASE_INTERVAL_HPP

#include <cstdint>
#include <optional>

#include <timebase/chrono.hpp>
#include <timebase/interval.h>
#include <timebase/page.hpp>

namespace timebase
{

/* struct timebase_interval, and what kind of promise it is: clock::utc_interval() and
 * clock::realtime_interval() say. */
struct interval : ::timebase_interval {
    timebase::status status = timebase::status::unknown;

    constexpr interval() noexcept : ::timebase_interval{0, 0}
    {
    }
    constexpr interval(std::int64_t earliest, std::int64_t latest,
                       timebase::status promise = timebase::status::unknown) noexcept
        : ::timebase_interval{earliest, latest}, status(promise)
    {
    }

    /* All moments within error_ns of ns; cut off at the ends of the range. */
    static interval around(std::int64_t ns, std::uint64_t error_ns,
                           timebase::status promise = timebase::status::unknown) noexcept
    {
        const ::timebase_interval c = ::timebase_interval_around(ns, error_ns);
        return {c.earliest_ns, c.latest_ns, promise};
    }

    utc_time earliest() const noexcept
    {
        return utc_time(std::chrono::nanoseconds(earliest_ns));
    }
    utc_time latest() const noexcept
    {
        return utc_time(std::chrono::nanoseconds(latest_ns));
    }

    /* It ends before it begins: it is before, after and within nothing. */
    bool is_empty() const noexcept
    {
        return latest_ns < earliest_ns;
    }
    /* Is every moment of this before every moment of the other? */
    bool before(const interval &other) const noexcept
    {
        return ::timebase_interval_before(this, &other);
    }
    bool overlaps(const interval &other) const noexcept
    {
        return ::timebase_interval_overlaps(this, &other);
    }
    bool contains(std::int64_t ns) const noexcept
    {
        return ::timebase_interval_contains(this, ns);
    }
    bool contains(utc_time when) const noexcept
    {
        return contains(when.time_since_epoch().count());
    }
    /* Exact for all intervals, up to 2^64 - 1; 0 if empty. */
    std::uint64_t width_ns() const noexcept
    {
        return ::timebase_interval_width_ns(this);
    }
    /* Where time is if both are right, with this one's status; empty: one of them is wrong. */
    std::optional<interval> intersect(const interval &other) const noexcept
    {
        interval both;
        if (!::timebase_interval_intersect(this, &other, &both))
            return std::nullopt;
        both.status = status;
        return both;
    }
};

} // namespace timebase

#endif
