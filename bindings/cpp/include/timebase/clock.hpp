/* SPDX-License-Identifier: MIT */
/*
 * clock: the time. As clock.h.
 *
 *     std::int64_t stamp = timebase::utc_ns();             // the process' own clock
 *     timebase::instant now = timebase::clock().now();     // one tick, and all that it says
 *
 *     std::error_code why_not;                             // the clock that all processes share
 *     timebase::attached_clock shared = timebase::attach_or_default(nullptr, why_not);
 *     timebase::utc_time when = shared.utc_time();
 *
 * clock is a handle of one pointer, never null, to be passed by value; it owns nothing.
 * attached_clock owns an attachment and is movable; it is a clock as well. One that is attached to
 * nothing, as after a move, is the process' own clock.
 */
#ifndef TIMEBASE_CLOCK_HPP
#define TIMEBASE_CLOCK_HPP

#include <cstdint>
#include <string>
#include <utility>

#include <timebase/chrono.hpp>
#include <timebase/clock.h>
#include <timebase/error.hpp>
#include <timebase/explain.hpp>
#include <timebase/interval.hpp>
#include <timebase/page.hpp>

namespace timebase
{

enum class maintenance {
    automatic = TIMEBASE_MAINTENANCE_AUTOMATIC,
    manual = TIMEBASE_MAINTENANCE_MANUAL,
};

enum class attachment_state {
    none = TIMEBASE_ATTACHMENT_PRIVATE,
    current = TIMEBASE_ATTACHMENT_CURRENT,
    silent = TIMEBASE_ATTACHMENT_SILENT,
    expired = TIMEBASE_ATTACHMENT_EXPIRED,
};

using statistics = ::timebase_statistics;

struct attachment : ::timebase_attachment {
    attachment_state how() const noexcept
    {
        return static_cast<attachment_state>(state);
    }
    /* Why the page cannot be followed just now; false: it can. */
    std::error_code why_not() const noexcept
    {
        return error_code_of(error);
    }
};

/* For the waits: as long as it takes. */
inline constexpr std::int64_t no_deadline = TIMEBASE_NO_DEADLINE;

class clock
{
  public:
    /* The process' own. */
    TIMEBASE_WRAPPER clock() noexcept : handle_(::timebase_clock_default())
    {
    }
    explicit clock(const ::timebase_clock *handle) noexcept
        : handle_(handle != nullptr ? handle : ::timebase_clock_default())
    {
    }
    const ::timebase_clock *c() const noexcept
    {
        return handle_;
    }

    /* Now. Ordered after earlier loads, but those that say otherwise. */
    TIMEBASE_WRAPPER std::int64_t utc_ns() const noexcept
    {
        return ::timebase_utc_ns(handle_);
    }
    TIMEBASE_WRAPPER std::int64_t mono_ns() const noexcept
    {
        return ::timebase_mono_ns(handle_);
    }
    TIMEBASE_WRAPPER std::int64_t tai_ns() const noexcept
    {
        return ::timebase_tai_ns(handle_);
    }
    TIMEBASE_WRAPPER std::int64_t utc_ns_unordered() const noexcept
    {
        return ::timebase_utc_ns_unordered(handle_);
    }
    TIMEBASE_WRAPPER std::int64_t mono_ns_unordered() const noexcept
    {
        return ::timebase_mono_ns_unordered(handle_);
    }
    TIMEBASE_WRAPPER std::int64_t tai_ns_unordered() const noexcept
    {
        return ::timebase_tai_ns_unordered(handle_);
    }
    TIMEBASE_WRAPPER std::int64_t utc_ms() const noexcept
    {
        return ::timebase_utc_ms(handle_);
    }
    TIMEBASE_WRAPPER std::int64_t mono_ms() const noexcept
    {
        return ::timebase_mono_ms(handle_);
    }
    TIMEBASE_WRAPPER std::int64_t tai_ms() const noexcept
    {
        return ::timebase_tai_ms(handle_);
    }
    TIMEBASE_WRAPPER timebase::utc_time utc_time() const noexcept
    {
        return timebase::utc_time(std::chrono::nanoseconds(utc_ns()));
    }
    TIMEBASE_WRAPPER timebase::tai_time tai_time() const noexcept
    {
        return timebase::tai_time(std::chrono::nanoseconds(tai_ns()));
    }
    TIMEBASE_WRAPPER timebase::mono_time mono_time() const noexcept
    {
        return timebase::mono_time(std::chrono::nanoseconds(mono_ns()));
    }
    TIMEBASE_WRAPPER instant now() const noexcept
    {
        instant read;
        ::timebase_now(handle_, &read);
        return read;
    }
    /* Where true UTC is: a promise with status synchronized, unless now() says is_estimate(). */
    TIMEBASE_WRAPPER interval utc_interval() const noexcept
    {
        interval read;
        read.status = static_cast<status>(::timebase_utc_interval(handle_, &read));
        return read;
    }
    /* Where CLOCK_REALTIME is: a promise unless the status is unknown or unreliable. */
    TIMEBASE_WRAPPER interval realtime_interval() const noexcept
    {
        interval read;
        read.status = static_cast<status>(::timebase_realtime_interval(handle_, &read));
        return read;
    }

    /* Another moment, by its tick; and the first tick that shows a time. */
    instant at(std::uint64_t ticks) const noexcept
    {
        instant read;
        ::timebase_at(handle_, ticks, &read);
        return read;
    }
    std::int64_t utc_at_ns(std::uint64_t ticks) const noexcept
    {
        return ::timebase_utc_at_ns(handle_, ticks);
    }
    std::int64_t mono_at_ns(std::uint64_t ticks) const noexcept
    {
        return ::timebase_mono_at_ns(handle_, ticks);
    }
    std::int64_t tai_at_ns(std::uint64_t ticks) const noexcept
    {
        return ::timebase_tai_at_ns(handle_, ticks);
    }
    std::uint64_t ticks_at_utc(std::int64_t utc_ns) const noexcept
    {
        return ::timebase_ticks_at_utc(handle_, utc_ns);
    }
    std::uint64_t ticks_at_mono(std::int64_t mono_ns) const noexcept
    {
        return ::timebase_ticks_at_mono(handle_, mono_ns);
    }
    std::uint64_t ticks_at(timebase::utc_time when) const noexcept
    {
        return ticks_at_utc(when.time_since_epoch().count());
    }
    std::uint64_t ticks_at(timebase::mono_time when) const noexcept
    {
        return ticks_at_mono(when.time_since_epoch().count());
    }

    /* Wait until true UTC is certainly later than `when` (commit-wait), or known to maxerror_ns.
     * Of the own clock they fail at once with errc::estimate: nobody vouches for its bound. */
    void wait_after(std::int64_t utc_ns, std::int64_t deadline_mono_ns,
                    std::error_code &ec) const noexcept
    {
        ec = error_code_of(::timebase_clock_wait_after(handle_, utc_ns, deadline_mono_ns));
    }
    interval wait_bound(std::uint64_t maxerror_ns, std::int64_t deadline_mono_ns,
                        std::error_code &ec) const noexcept
    {
        interval seen;
        ec = error_code_of(
            ::timebase_clock_wait_bound(handle_, maxerror_ns, deadline_mono_ns, &seen));
        seen.status = ec ? status::unknown : status::synchronized;
        return seen;
    }

    /* Who keeps the clock right. maintain() says errc::busy if it has just been done. */
    void set_maintenance(maintenance by) const noexcept
    {
        ::timebase_clock_set_maintenance(handle_, static_cast<int>(by));
    }
    void maintain(std::error_code &ec) const noexcept
    {
        ec = error_code_of(::timebase_clock_maintain(handle_));
    }
    /* After select_counter(), before other threads read. */
    void restart(std::error_code &ec) const noexcept
    {
        ec = error_code_of(::timebase_clock_restart(handle_));
    }
    timebase::statistics statistics(std::error_code &ec) const noexcept
    {
        timebase::statistics out{};
        ec = error_code_of(::timebase_clock_statistics(handle_, &out));
        return out;
    }
    timebase::attachment attachment(std::error_code &ec) const noexcept
    {
        timebase::attachment out{};
        ec = error_code_of(::timebase_clock_attachment(handle_, &out));
        return out;
    }

#if TIMEBASE_EXCEPTIONS
    void wait_after(std::int64_t utc_ns, std::int64_t deadline_mono_ns = no_deadline) const
    {
        std::error_code ec;
        wait_after(utc_ns, deadline_mono_ns, ec);
        detail::throw_if(ec, "timebase: waiting until a time is past");
    }
    interval wait_bound(std::uint64_t maxerror_ns,
                        std::int64_t deadline_mono_ns = no_deadline) const
    {
        std::error_code ec;
        const interval seen = wait_bound(maxerror_ns, deadline_mono_ns, ec);
        detail::throw_if(ec, "timebase: waiting for a bound");
        return seen;
    }
    /* False: another thread is at it, or has just been. */
    bool maintain() const
    {
        std::error_code ec;
        maintain(ec);
        if (ec == errc::busy)
            return false;
        detail::throw_if(ec, "timebase: maintaining the clock");
        return true;
    }
    void restart() const
    {
        std::error_code ec;
        restart(ec);
        detail::throw_if(ec, "timebase: restarting the clock");
    }
    timebase::statistics statistics() const
    {
        std::error_code ec;
        const timebase::statistics out = statistics(ec);
        detail::throw_if(ec, "timebase: the clock's statistics");
        return out;
    }
    timebase::attachment attachment() const
    {
        std::error_code ec;
        const timebase::attachment out = attachment(ec);
        detail::throw_if(ec, "timebase: the clock's attachment");
        return out;
    }
#endif

  private:
    const ::timebase_clock *handle_;
};

inline clock default_clock() noexcept
{
    return clock();
}

/* An attachment to the page of another process; detached at the end of its life, when no thread
 * may use it any more, nor a clock that was copied from it. */
class attached_clock : public clock
{
  public:
    /* To nothing: the process' own clock. */
    attached_clock() noexcept = default;
    explicit attached_clock(::timebase_clock *owned) noexcept : clock(owned), owned_(owned)
    {
    }
    attached_clock(attached_clock &&other) noexcept : attached_clock(other.release())
    {
    }
    attached_clock &operator=(attached_clock &&other) noexcept
    {
        if (this != &other)
            reset(other.release());
        return *this;
    }
    attached_clock(const attached_clock &) = delete;
    attached_clock &operator=(const attached_clock &) = delete;
    ~attached_clock()
    {
        ::timebase_clock_detach(owned_);
    }

    /* Attached to a page: true, also if its writer is dead; attachment() says how it stands. */
    explicit operator bool() const noexcept
    {
        return owned_ != nullptr;
    }
    void detach() noexcept
    {
        reset(nullptr);
    }

  private:
    ::timebase_clock *release() noexcept
    {
        clock::operator=(clock());
        return std::exchange(owned_, nullptr);
    }
    void reset(::timebase_clock *owned) noexcept
    {
        clock::operator=(clock(owned));
        ::timebase_clock_detach(std::exchange(owned_, owned));
    }

    ::timebase_clock *owned_ = nullptr;
};

/* The page at path; null: the daemon's. If that fails, ec says why, and the result is false. */
[[nodiscard]] inline attached_clock attach(const char *path, std::error_code &ec) noexcept
{
    ::timebase_clock *out = nullptr;
    ec = error_code_of(::timebase_clock_attach(&out, path));
    return attached_clock(out);
}

/* A string with a null byte is no path: C would take the part before it. */
[[nodiscard]] inline attached_clock attach(const std::string &path, std::error_code &ec) noexcept
{
    if (path.find('\0') == std::string::npos)
        return attach(path.c_str(), ec);
    ec = make_error_code(errc::invalid);
    return attached_clock();
}

/* The same in words: for who goes on with the process' own clock. why_not is false if attached. */
[[nodiscard]] inline attached_clock attach_or_default(const char *path,
                                                      std::error_code &why_not) noexcept
{
    return attach(path, why_not);
}

#if TIMEBASE_EXCEPTIONS
[[nodiscard]] inline attached_clock attach(const std::string &path)
{
    std::error_code ec;
    attached_clock clock = attach(path, ec);
    if (ec) {
        const std::string why = explain(path, ec);
        throw error(ec, "timebase: cannot attach to " + path + (why.empty() ? "" : ", " + why));
    }
    return clock;
}

/* Null: the daemon's. */
[[nodiscard]] inline attached_clock attach(const char *path = nullptr)
{
    return attach(std::string(path != nullptr ? path : TIMEBASE_PAGE_PATH));
}
#endif

/* The short way: of the process' own clock. */
TIMEBASE_WRAPPER std::int64_t utc_ns(clock of = {}) noexcept
{
    return of.utc_ns();
}
TIMEBASE_WRAPPER std::int64_t mono_ns(clock of = {}) noexcept
{
    return of.mono_ns();
}
TIMEBASE_WRAPPER std::int64_t tai_ns(clock of = {}) noexcept
{
    return of.tai_ns();
}
TIMEBASE_WRAPPER std::int64_t utc_ns_unordered(clock of = {}) noexcept
{
    return of.utc_ns_unordered();
}
TIMEBASE_WRAPPER std::int64_t mono_ns_unordered(clock of = {}) noexcept
{
    return of.mono_ns_unordered();
}
TIMEBASE_WRAPPER std::int64_t tai_ns_unordered(clock of = {}) noexcept
{
    return of.tai_ns_unordered();
}
TIMEBASE_WRAPPER instant now(clock of = {}) noexcept
{
    return of.now();
}
TIMEBASE_WRAPPER interval utc_interval(clock of = {}) noexcept
{
    return of.utc_interval();
}
TIMEBASE_WRAPPER interval realtime_interval(clock of = {}) noexcept
{
    return of.realtime_interval();
}

} // namespace timebase

#endif
