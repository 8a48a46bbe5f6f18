/* SPDX-License-Identifier: MIT */
/*
 * calendar: units of work, each begun at its time. As calendar.h.
 *
 *     auto sample = [&] { ... };                        // any callables; they must outlive the run
 *     auto send = [&] { ... };
 *     std::array units = {
 *         timebase::unit("sample", sample).every(1ms).takes(20us),
 *         timebase::unit("send", send).from(500us).every(1ms).takes(50us).within(200us),
 *     };
 *     timebase::calendar calendar(units);
 *     calendar.length(200ms);
 *     for (const timebase::calendar_problem &problem : calendar.admit(waiter))
 *         std::cerr << problem.text << '\n';
 *     std::array<timebase::unit_result, 2> results;
 *     calendar.run(waiter, results);
 *
 * Units are called through references, nothing is copied or allocated for them. A unit must not
 * throw: the dispatcher is C, and the program ends by std::terminate. Nor may one with a time-out
 * have objects with destructors: it is left by siglongjmp.
 */
#ifndef TIMEBASE_CALENDAR_HPP
#define TIMEBASE_CALENDAR_HPP

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <type_traits>
#include <vector>

#include <timebase/calendar.h>
#include <timebase/wait.hpp>

namespace timebase
{

using calendar_problem = ::timebase_calendar_problem;
using release = ::timebase_release;
using release_log = ::timebase_release_log;
using unit_result = ::timebase_unit_result;
using tick_comb = ::timebase_tick_comb;

inline const char *calendar_problem_name(int kind) noexcept
{
    return ::timebase_calendar_problem_name(kind);
}
inline const char *release_name(unsigned outcome_bit) noexcept
{
    return ::timebase_release_name(static_cast<int>(outcome_bit));
}
/* The lower end of bucket i of unit_result::errors; that of 160 is the last one's upper end. */
inline double calendar_bucket_ns(int bucket) noexcept
{
    return ::timebase_calendar_bucket_ns(bucket);
}

/* Where the kernel's tick falls on this CPU: watches for 10 ms to 10 s. */
inline tick_comb learn_tick_comb(std::chrono::nanoseconds watch, std::error_code &ec,
                                 clock of = {}) noexcept
{
    tick_comb out{};
    ec = error_code_of(::timebase_tick_comb_learn(of.c(), watch.count(), &out));
    return out;
}

/* One elemental unit; a struct timebase_unit, with words for its times. */
class unit : public ::timebase_unit
{
  public:
    using ns = std::chrono::nanoseconds;

    /* Name and function are kept by reference. */
    template <class Function>
    unit(const char *called, Function &function) noexcept : ::timebase_unit{}
    {
        static_assert(std::is_invocable_v<Function &>, "a unit is called without arguments");
        name = called;
        action = [](void *one) noexcept { std::invoke(*static_cast<Function *>(one)); };
        argument = const_cast<void *>(static_cast<const void *>(std::addressof(function)));
    }

    unit &from(ns ready) noexcept
    {
        ready_ns = ready.count();
        return *this;
    }
    unit &every(ns period) noexcept
    {
        period_ns = period.count();
        return *this;
    }
    /* Its worst-case execution time. */
    unit &takes(ns duration) noexcept
    {
        duration_ns = duration.count();
        return *this;
    }
    unit &within(ns deadline) noexcept
    {
        deadline_ns = deadline.count();
        return *this;
    }
    unit &stopped_after(ns timeout) noexcept
    {
        timeout_ns = timeout.count();
        return *this;
    }
    unit &times(std::uint64_t count) noexcept
    {
        releases = count;
        return *this;
    }
    unit &waiting(wait_flag how) noexcept
    {
        flags = static_cast<std::uint32_t>(how);
        return *this;
    }
};

class calendar
{
  public:
    /* Of an array, vector or the like of units, kept by reference. */
    template <class Units> explicit calendar(const Units &units) noexcept
    {
        static_assert(sizeof(unit) == sizeof(::timebase_unit), "an array of them is C's");
        calendar_.units = std::data(units);
        calendar_.unit_count = static_cast<std::uint32_t>(std::size(units));
    }
    template <class Units> explicit calendar(const Units &&units) = delete; /* would dangle */

    calendar &start(mono_time when) noexcept
    {
        calendar_.start_ns = when.time_since_epoch().count();
        return *this;
    }
    calendar &length(std::chrono::nanoseconds length) noexcept
    {
        calendar_.length_ns = length.count();
        return *this;
    }
    calendar &may_overlap(bool may) noexcept
    {
        calendar_.may_overlap = may;
        return *this;
    }
    /* Keep units off the kernel's tick; the comb is kept by reference. */
    calendar &avoid_tick(const tick_comb &comb) noexcept
    {
        calendar_.comb = &comb;
        calendar_.avoid_tick = 1;
        return *this;
    }
    calendar &avoid_tick(const tick_comb &&comb) = delete;
    calendar &utilisation(double highest) noexcept
    {
        calendar_.utilisation = highest;
        return *this;
    }
    calendar &log(release_log &into) noexcept
    {
        calendar_.log = &into;
        return *this;
    }
    /* Not 0 ends the run. Written atomically, with release order: calendar.h. */
    calendar &stop(const int &flag) noexcept
    {
        calendar_.stop = &flag;
        return *this;
    }
    calendar &stop(const int &&flag) = delete;

    /* Up to `room` problems are stored; how many there are. 0: admitted without doubt. */
    int admit(calendar_problem *problems, int room, std::error_code &ec,
              const waiter *by = nullptr) const noexcept
    {
        const int count = ::timebase_calendar_admit(&calendar_, by != nullptr ? by->c() : nullptr,
                                                    problems, room);
        ec = error_code_of(count);
        return count;
    }

    /* False: not admitted, and nothing was run. A result for each unit, as many as there are. */
    template <class Results>
    bool run(waiter &by, Results &results, std::error_code &ec) const noexcept
    {
        int result = TIMEBASE_E_INVALID;
        if (std::size(results) >= calendar_.unit_count)
            result = ::timebase_calendar_run(&calendar_, by.c(), std::data(results));
        ec = error_code_of(result);
        return result == 0;
    }

#if TIMEBASE_EXCEPTIONS
    /* All problems, faults and warnings. */
    std::vector<calendar_problem> admit(const waiter &by) const
    {
        std::error_code ec;
        std::vector<calendar_problem> problems(16);
        for (;;) {
            const int room = static_cast<int>(problems.size());
            const int count = admit(problems.data(), room, ec, &by);
            detail::throw_if(ec, "timebase: admitting a calendar");
            problems.resize(static_cast<std::size_t>(count));
            if (count <= room)
                return problems;
        }
    }
    template <class Results> bool run(waiter &by, Results &results) const
    {
        std::error_code ec;
        const bool has_run = run(by, results, ec);
        detail::throw_if(ec, "timebase: running a calendar");
        return has_run;
    }
#endif

  private:
    ::timebase_calendar calendar_{};
};

} // namespace timebase

#endif
