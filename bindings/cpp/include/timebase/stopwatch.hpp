/* SPDX-License-Identifier: MIT */
/*
 * stopwatch: measures how long a few instructions take, and subtracts its own cost. As stopwatch.h.
 *
 *     timebase::stopwatch watch;                             // calibrates: some ms at most
 *     timebase::elapsed took = watch.measure([&] { work(); });
 *     std::cout << took.ns << " ns +/- " << took.uncertainty_ns << '\n';
 *
 *     timebase::elapsed all{};
 *     {
 *         auto lap = watch.scope(all);                       // stops at the end of the block, also
 *         ...                                                // if it is left by return or throw
 *     }
 *
 * One stopwatch a thread. Laps nest: what the inner one costs is taken off the outer one.
 */
#ifndef TIMEBASE_STOPWATCH_HPP
#define TIMEBASE_STOPWATCH_HPP

#include <chrono>
#include <functional>
#include <utility>

#include <timebase/clock.hpp>
#include <timebase/stopwatch.h>

namespace timebase
{

/* A C structure of ticks, ns and uncertainty_ns, and the time as a duration. */
struct elapsed : ::timebase_elapsed {
    std::chrono::duration<double, std::nano> duration() const noexcept
    {
        return std::chrono::duration<double, std::nano>(ns);
    }
};

using lap = ::timebase_lap;

class stopwatch
{
  public:
    explicit stopwatch(clock of = {}) noexcept
    {
        calibrate(of);
    }
    void calibrate(clock of = {}) noexcept
    {
        ::timebase_stopwatch_calibrate(&watch_, of.c());
    }

    lap start() noexcept
    {
        return ::timebase_stopwatch_start(&watch_);
    }
    elapsed stop(lap begun) noexcept
    {
        return {::timebase_stopwatch_stop(&watch_, begun)};
    }

    /* What calling it took. Its result is thrown away; what it throws passes through. */
    template <class Function, class... Arguments>
    elapsed measure(Function &&function, Arguments &&...arguments)
    {
        const lap begun = start();
        std::invoke(std::forward<Function>(function), std::forward<Arguments>(arguments)...);
        return stop(begun);
    }

    /* A lap that lasts as long as this object. */
    class [[nodiscard]] scoped_lap
    {
      public:
        scoped_lap(stopwatch &watch, elapsed &out) noexcept
            : watch_(watch), out_(out), begun_(watch.start())
        {
        }
        ~scoped_lap()
        {
            out_ = watch_.stop(begun_);
        }
        scoped_lap(const scoped_lap &) = delete;
        scoped_lap &operator=(const scoped_lap &) = delete;

      private:
        stopwatch &watch_;
        elapsed &out_;
        lap begun_;
    };
    scoped_lap scope(elapsed &out) noexcept
    {
        return scoped_lap(*this, out);
    }

    double overhead_ns() const noexcept
    {
        return static_cast<double>(watch_.overhead_ticks) * watch_.period_ns;
    }

  private:
    ::timebase_stopwatch watch_{};
};

} // namespace timebase

#endif
