/* SPDX-License-Identifier: MIT */
/*
 * wait: begin at a tick. As wait.h.
 *
 *     static timebase::waiter waiter;                    // 8 KiB, one a thread; <= 10 ms to learn
 *     auto when = timebase::steady_clock::now() + std::chrono::microseconds(50);
 *
 *     timebase::wait_result at = waiter.until(when, timebase::wait_flag::prepare);
 *     ...                                                // begins at `when`
 *     waiter.call(when, [&] { send(packet); }, timebase::wait_flag::sleep);
 *
 * The function of call() is any callable without arguments; it is called through a reference, never
 * copied, and nothing is allocated. Its first instruction is the event. What it throws comes out
 * of call(), after the wait has been recorded; with -fno-exceptions it must not throw.
 *
 * Times are utc_time, mono_time or ticks. A wait fails only for a reason that a program can avoid
 * (wait.h lists them): the forms without an error_code throw.
 */
#ifndef TIMEBASE_WAIT_HPP
#define TIMEBASE_WAIT_HPP

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <type_traits>
#include <utility>

#include <timebase/clock.hpp>
#include <timebase/wait.h>

namespace timebase
{

/* How a wait is done; to be combined with |. */
enum class wait_flag : unsigned {
    none = 0,
    plain = TIMEBASE_WAIT_PLAIN,
    never_early = TIMEBASE_WAIT_NEVER_EARLY,
    sleep = TIMEBASE_WAIT_SLEEP,
    prepare = TIMEBASE_WAIT_PREPARE,
    rehearse = TIMEBASE_WAIT_REHEARSE,
    save_power = TIMEBASE_WAIT_SAVE_POWER,
    steady = TIMEBASE_WAIT_STEADY,
};

constexpr wait_flag operator|(wait_flag a, wait_flag b) noexcept
{
    return static_cast<wait_flag>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

enum class mechanism {
    none = TIMEBASE_MECHANISM_NONE,
    loop = TIMEBASE_MECHANISM_LOOP,
    jump = TIMEBASE_MECHANISM_JUMP,
    return_ = TIMEBASE_MECHANISM_RETURN,
    run = TIMEBASE_MECHANISM_RUN,
};

inline const char *name(mechanism how) noexcept
{
    return ::timebase_wait_mechanism_name(static_cast<int>(how));
}

inline const char *disturbance_name(std::uint32_t bit) noexcept
{
    return ::timebase_wait_disturbance_name(static_cast<int>(bit));
}

/* struct timebase_wait_result; late: the event took place at once, after its time. */
struct wait_result : ::timebase_wait_result {
    bool had_passed = false; /* the target had, when its time for polling came */
    timebase::mechanism how() const noexcept
    {
        return static_cast<timebase::mechanism>(mechanism);
    }
};

using fine_reading = ::timebase_fine_reading;
using fine_readings = ::timebase_fine_readings;
using waiter_description = ::timebase_waiter_description;

/* True while call() rehearses: touch code and data, and have no effect. */
inline bool rehearsing() noexcept
{
    return ::timebase_wait_rehearsing() != 0;
}

namespace detail
{
/* A callable as C calls it: a function and what it is given. C has no way for an exception
 * through its frames, so it waits here. */
template <class Function> class call
{
  public:
    explicit call(Function &function) noexcept : function_(&function)
    {
    }

    static void run(void *self) noexcept
    {
        call &one = *static_cast<call *>(self);
#if TIMEBASE_EXCEPTIONS
        try {
            std::invoke(*one.function_);
        } catch (...) {
            one.thrown_ = std::current_exception();
        }
#else
        std::invoke(*one.function_);
#endif
    }

    void rethrow()
    {
#if TIMEBASE_EXCEPTIONS
        if (thrown_ != nullptr)
            std::rethrow_exception(thrown_);
#endif
    }

  private:
    Function *function_;
#if TIMEBASE_EXCEPTIONS
    std::exception_ptr thrown_;
#endif
};
} // namespace detail

/* Stays where it is in memory, and belongs to one thread. */
class waiter
{
  public:
    explicit waiter(clock of = {}) noexcept
    {
        ::timebase_waiter_init(&waiter_, of.c());
    }
    waiter(const waiter &) = delete;
    waiter &operator=(const waiter &) = delete;

    /* Learn again, e.g. after pinning the thread. */
    void calibrate() noexcept
    {
        ::timebase_waiter_calibrate(&waiter_);
    }
    waiter_description describe() const noexcept
    {
        waiter_description out{};
        ::timebase_waiter_describe(&waiter_, &out);
        return out;
    }
    void set_margin(double quantile, double cpu_share, std::error_code &ec) noexcept
    {
        ec = error_code_of(::timebase_waiter_set_margin(&waiter_, quantile, cpu_share));
    }

    /* Wait until an instant. */
    wait_result until_ticks(std::uint64_t ticks, wait_flag flags, std::error_code &ec) noexcept
    {
        wait_result out{};
        return told(::timebase_wait_until_ticks(&waiter_, ticks, bits(flags), &out), out, ec);
    }
    wait_result until(mono_time when, wait_flag flags, std::error_code &ec) noexcept
    {
        wait_result out{};
        return told(::timebase_wait_until_mono(&waiter_, ns(when), bits(flags), &out), out, ec);
    }
    wait_result until(utc_time when, wait_flag flags, std::error_code &ec) noexcept
    {
        wait_result out{};
        return told(::timebase_wait_until_utc(&waiter_, ns(when), bits(flags), &out), out, ec);
    }

    /* The event is the first instruction of the function; a late one is called all the same. */
    template <class Function>
    wait_result call_ticks(std::uint64_t ticks, Function &&function, wait_flag flags,
                           std::error_code &ec)
    {
        wait_result out{};
        return calling(function, out, ec, [&](void (*run)(void *), void *one) {
            return ::timebase_wait_call_ticks(&waiter_, ticks, bits(flags), run, one, &out);
        });
    }
    template <class Function>
    wait_result call(mono_time when, Function &&function, wait_flag flags, std::error_code &ec)
    {
        wait_result out{};
        return calling(function, out, ec, [&](void (*run)(void *), void *one) {
            return ::timebase_wait_call_mono(&waiter_, ns(when), bits(flags), run, one, &out);
        });
    }
    template <class Function>
    wait_result call(utc_time when, Function &&function, wait_flag flags, std::error_code &ec)
    {
        wait_result out{};
        return calling(function, out, ec, [&](void (*run)(void *), void *one) {
            return ::timebase_wait_call_utc(&waiter_, ns(when), bits(flags), run, one, &out);
        });
    }

    /* A delay from this call to its return. A negative one is over already. */
    wait_result delay(std::chrono::nanoseconds length, wait_flag flags,
                      std::error_code &ec) noexcept
    {
        wait_result out{};
        const auto whole = static_cast<std::uint64_t>(length.count() > 0 ? length.count() : 0);
        return told(::timebase_delay_ns(&waiter_, whole, bits(flags), &out), out, ec);
    }
    /* The same without a result, for the shortest: below 150 ns the counter is not looked at. */
    void delay_unmeasured(std::chrono::nanoseconds length) noexcept
    {
        if (length.count() > 0)
            ::timebase_delay_ns(&waiter_, static_cast<std::uint64_t>(length.count()), 0, nullptr);
    }

    /* The counter between its steps. Uneven readings leave the bound at a whole step. */
    fine_reading read_fine(std::uint64_t base_ticks) const noexcept
    {
        fine_reading out{};
        ::timebase_wait_read_fine(&waiter_, base_ticks, &out);
        return out;
    }
    /* Its halves, for laps: take two, and place both afterwards. */
    fine_readings take_fine() const noexcept
    {
        fine_readings out{};
        ::timebase_wait_take_fine(&waiter_, &out);
        return out;
    }
    fine_reading place_fine(const fine_readings &readings, std::uint64_t base_ticks) const noexcept
    {
        fine_reading out{};
        ::timebase_wait_place_fine(&waiter_, &readings, base_ticks, &out);
        return out;
    }

#if TIMEBASE_EXCEPTIONS
    void set_margin(double quantile, double cpu_share)
    {
        std::error_code ec;
        set_margin(quantile, cpu_share, ec);
        detail::throw_if(ec, "timebase: setting the margin of a waiter");
    }
    wait_result until_ticks(std::uint64_t ticks, wait_flag flags = wait_flag::none)
    {
        return unless_it_fails([&](std::error_code &ec) { return until_ticks(ticks, flags, ec); });
    }
    template <class Clock, class Duration>
    wait_result until(std::chrono::time_point<Clock, Duration> when,
                      wait_flag flags = wait_flag::none)
    {
        const typename Clock::time_point exactly = when;
        return unless_it_fails([&](std::error_code &ec) { return until(exactly, flags, ec); });
    }
    template <class Function>
    wait_result call_ticks(std::uint64_t ticks, Function &&function,
                           wait_flag flags = wait_flag::none)
    {
        return unless_it_fails(
            [&](std::error_code &ec) { return call_ticks(ticks, function, flags, ec); });
    }
    template <class Clock, class Duration, class Function>
    wait_result call(std::chrono::time_point<Clock, Duration> when, Function &&function,
                     wait_flag flags = wait_flag::none)
    {
        const typename Clock::time_point exactly = when;
        return unless_it_fails(
            [&](std::error_code &ec) { return call(exactly, function, flags, ec); });
    }
    wait_result delay(std::chrono::nanoseconds length, wait_flag flags = wait_flag::none)
    {
        return unless_it_fails([&](std::error_code &ec) { return delay(length, flags, ec); });
    }
#endif

    ::timebase_waiter *c() noexcept
    {
        return &waiter_;
    }
    const ::timebase_waiter *c() const noexcept
    {
        return &waiter_;
    }

  private:
    static unsigned bits(wait_flag flags) noexcept
    {
        return static_cast<unsigned>(flags);
    }
    template <class TimePoint> static std::int64_t ns(TimePoint when) noexcept
    {
        return when.time_since_epoch().count();
    }
    static wait_result told(int result, wait_result &out, std::error_code &ec) noexcept
    {
        ec = error_code_of(result);
        out.had_passed = result > 0;
        return out;
    }
    template <class Function, class Wait>
    static wait_result calling(Function &function, wait_result &out, std::error_code &ec, Wait wait)
    {
        detail::call<Function> one(function);
        told(wait(&detail::call<Function>::run, &one), out, ec);
        one.rethrow();
        return out;
    }
#if TIMEBASE_EXCEPTIONS
    template <class Wait> static wait_result unless_it_fails(Wait wait)
    {
        std::error_code ec;
        const wait_result out = wait(ec);
        detail::throw_if(ec, "timebase: waiting");
        return out;
    }
#endif

    ::timebase_waiter waiter_{};
};

} // namespace timebase

#endif
