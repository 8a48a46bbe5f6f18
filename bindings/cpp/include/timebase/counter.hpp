/* SPDX-License-Identifier: MIT */
/*
 * counter: reading the processor's counter, and what is known about it. As counter.h.
 *
 *     std::uint64_t start = timebase::ticks_ordered();
 *     timebase::counter_description about = timebase::probe_counter();
 *     std::cout << about.name() << ' ' << about.frequency_hz << " Hz\n";
 */
#ifndef TIMEBASE_COUNTER_HPP
#define TIMEBASE_COUNTER_HPP

#include <cstdint>
#include <system_error>

#include <timebase/counter.h>
#include <timebase/error.hpp>

namespace timebase
{

enum class counter_id {
    arm_vcnt = TIMEBASE_COUNTER_ARM_VCNT,
    x86_tsc = TIMEBASE_COUNTER_X86_TSC,
    power_tb = TIMEBASE_COUNTER_POWER_TB,
    riscv_time = TIMEBASE_COUNTER_RISCV_TIME,
    s390_tod = TIMEBASE_COUNTER_S390_TOD,
    os = TIMEBASE_COUNTER_OS,
    by_cpu = TIMEBASE_COUNTER_BY_CPU,
    invalid = TIMEBASE_COUNTER_INVALID,
};

enum class counter_class {
    unknown = TIMEBASE_CLASS_UNKNOWN,
    none = TIMEBASE_CLASS_NONE,
    constant = TIMEBASE_CLASS_CONSTANT,
    invariant = TIMEBASE_CLASS_INVARIANT,
    non_stop = TIMEBASE_CLASS_NON_STOP,
};

/* The cheapest stamp: may move among neighbouring instructions, loads included. */
TIMEBASE_WRAPPER std::uint64_t ticks() noexcept
{
    return ::timebase_ticks();
}

/* Read after all earlier loads have got their values. */
TIMEBASE_WRAPPER std::uint64_t ticks_ordered() noexcept
{
    return ::timebase_ticks_ordered();
}

/* CLOCK_MONOTONIC_RAW in nanoseconds. */
inline std::uint64_t ticks_os() noexcept
{
    return ::timebase_ticks_os();
}

inline const char *name(counter_id id) noexcept
{
    return ::timebase_counter_name(static_cast<int>(id));
}

inline const char *name(counter_class kind) noexcept
{
    return ::timebase_counter_class_name(static_cast<int>(kind));
}

inline const char *frequency_source_name(int source) noexcept
{
    return ::timebase_frequency_source_name(source);
}

/* struct timebase_counter, with names for its numbers. */
struct counter_description : ::timebase_counter {
    const char *name() const noexcept
    {
        return ::timebase_counter_name(id);
    }
    const char *class_name() const noexcept
    {
        return ::timebase_counter_class_name(counter_class);
    }
    /* The n-th reason for its quality in words, worst first; null after the last. */
    const char *reason(unsigned n) const noexcept
    {
        return ::timebase_counter_reason(this, n);
    }
};

/* Takes about 5 ms and reads files: call it once. */
inline counter_description probe_counter() noexcept
{
    counter_description found{};
    ::timebase_counter_probe(&found);
    return found;
}

/* The counter that ticks() reads. */
inline counter_id counter_in_use() noexcept
{
    return static_cast<counter_id>(::timebase_counter_id());
}

/* Choose the counter of this process, and call restart() of its clock next. */
inline void select_counter(counter_id id, std::error_code &ec) noexcept
{
    ec = error_code_of(::timebase_counter_select(static_cast<int>(id)));
}

#if TIMEBASE_EXCEPTIONS
inline void select_counter(counter_id id)
{
    std::error_code ec;
    select_counter(id, ec);
    detail::throw_if(ec, "timebase: cannot take this counter");
}
#endif

} // namespace timebase

#endif
