/* SPDX-License-Identifier: MIT */
/*
 * realtime: what a punctual thread asks of the kernel, for as long as an object lives. As
 * realtime.h.
 *
 *     {
 *         timebase::realtime rt({.wanted = TIMEBASE_REALTIME_ALL, .priority = 50, .cpu = 1});
 *         for (unsigned bit : timebase::realtime::bits)
 *             if (std::error_code why = rt.refused(bit))
 *                 std::cerr << timebase::realtime::name(bit) << ": " << why.message() << '\n'
 *                           << timebase::realtime::advice(bit) << '\n';
 *         ...                          // the punctual part
 *     }                                // given back, in the same thread
 */
#ifndef TIMEBASE_REALTIME_HPP
#define TIMEBASE_REALTIME_HPP

#include <array>
#include <system_error>

#include <timebase/error.hpp>
#include <timebase/realtime.h>

namespace timebase
{

using realtime_request = ::timebase_realtime_request;

/* Made and destroyed by the same thread; nested ones in the reverse order. */
class realtime
{
  public:
    static constexpr std::array<unsigned, TIMEBASE_REALTIME_COUNT> bits = {
        TIMEBASE_REALTIME_AFFINITY, TIMEBASE_REALTIME_SCHEDULER, TIMEBASE_REALTIME_MEMORY,
        TIMEBASE_REALTIME_TIMER_SLACK, TIMEBASE_REALTIME_CPU_LATENCY};

    /* What the kernel refuses is no error: refused() tells. A request that cannot be is. */
    realtime(const realtime_request &request, std::error_code &ec) noexcept
    {
        ec = error_code_of(::timebase_realtime_acquire(&held_, &request));
    }
#if TIMEBASE_EXCEPTIONS
    explicit realtime(const realtime_request &request)
    {
        detail::throw_if(error_code_of(::timebase_realtime_acquire(&held_, &request)),
                         "timebase: such a request to the kernel cannot be");
    }
#endif
    realtime(const realtime &) = delete;
    realtime &operator=(const realtime &) = delete;
    ~realtime()
    {
        ::timebase_realtime_release(&held_);
    }

    bool granted(unsigned bit) const noexcept
    {
        return (held_.granted & bit) != 0;
    }
    /* The kernel's reason; false: it was granted, or not wanted. */
    std::error_code refused(unsigned bit) const noexcept
    {
        for (std::size_t i = 0; i < bits.size(); i++)
            if (bits[i] == bit && (held_.refused & bit) != 0)
                return {held_.reason_errno[i], std::generic_category()};
        return {};
    }
    /* Pinned to this CPU, or -1. */
    int cpu() const noexcept
    {
        return held_.cpu;
    }
    /* Before the end of its life, to hear of what could not be given back. */
    void release(std::error_code &ec) noexcept
    {
        ec = error_code_of(::timebase_realtime_release(&held_));
    }

    static const char *name(unsigned bit) noexcept
    {
        return ::timebase_realtime_name(bit);
    }
    static const char *advice(unsigned bit) noexcept
    {
        return ::timebase_realtime_advice(bit);
    }

  private:
    ::timebase_realtime held_{};
};

} // namespace timebase

#endif
