/* SPDX-License-Identifier: MIT */
/*
 * page: an instant, and reading a page in memory. As page.h.
 *
 * Most programs read a clock (clock.hpp). A page by itself is for who has one from elsewhere: a log
 * of another machine's ticks and the 640 bytes of that time, or a page that another process shares
 * by means of its own.
 *
 *     timebase::page_view page(bytes);             // 640 bytes, aligned to 8; not copied
 *     if (std::error_code ec = page.validate())    // trust nothing before this
 *         ...
 *     if (auto then = page.at(ticks))
 *         ... then->utc_ns ...
 */
#ifndef TIMEBASE_PAGE_HPP
#define TIMEBASE_PAGE_HPP

#include <chrono>
#include <cstdint>
#include <optional>
#include <system_error>

#include <timebase/clock.h>
#include <timebase/error.hpp>
#include <timebase/page.h>

namespace timebase
{

enum class status {
    unknown = TIMEBASE_STATUS_UNKNOWN,
    initializing = TIMEBASE_STATUS_INITIALIZING,
    synchronized = TIMEBASE_STATUS_SYNCHRONIZED,
    freerunning = TIMEBASE_STATUS_FREERUNNING,
    unreliable = TIMEBASE_STATUS_UNRELIABLE,
};

inline const char *name(status state) noexcept
{
    return ::timebase_status_name(static_cast<int>(state));
}

/* One tick, and everything it says: struct timebase_instant, and its flags by name. */
struct instant : ::timebase_instant {
    timebase::status status() const noexcept
    {
        return static_cast<timebase::status>(flags & TIMEBASE_LINE_STATUS_MASK);
    }
    /* utc_maxerror_ns leaves out a term, and so is no bound. */
    bool is_estimate() const noexcept
    {
        return (flags & TIMEBASE_LINE_ESTIMATE) != 0;
    }
    /* The administrator vouches that the machine is never moved, copied or restored. */
    bool is_never_moved() const noexcept
    {
        return (flags & TIMEBASE_LINE_NEVER_MOVED) != 0;
    }
    /* The kernel does not trust this counter. */
    bool is_counter_distrusted() const noexcept
    {
        return (flags & TIMEBASE_LINE_COUNTER_DISTRUSTED) != 0;
    }
    /* Equal to utc_ns while nobody has told the offset: tai_offset() is empty then. */
    std::int64_t tai_ns() const noexcept
    {
        return ::timebase_tai_from_utc(utc_ns, flags);
    }
    std::optional<std::chrono::seconds> tai_offset() const noexcept
    {
        if ((flags & TIMEBASE_LINE_TAI_VALID) == 0)
            return std::nullopt;
        return std::chrono::seconds(static_cast<std::int16_t>(flags >> TIMEBASE_LINE_TAI_SHIFT));
    }
    /* What the end of the UTC day inserts or, negative, deletes. */
    std::chrono::seconds leap() const noexcept
    {
        if ((flags & TIMEBASE_LINE_LEAP_INSERT) != 0)
            return std::chrono::seconds(1);
        return std::chrono::seconds((flags & TIMEBASE_LINE_LEAP_DELETE) != 0 ? -1 : 0);
    }
};

/* A page that lies somewhere, and must stay there. One pointer: pass it by value. */
class page_view
{
  public:
    explicit page_view(const ::timebase_page &page) noexcept : page_(&page)
    {
    }

    /* Why it is no page to read; false: it is one. errc::torn: a publication fell in, try again. */
    std::error_code validate() const noexcept
    {
        return error_code_of(::timebase_page_validate(page_));
    }

    /* Now, in one attempt: empty if a publication fell into it, or the page has no line for now.
     * The page's counter must be this process'. */
    TIMEBASE_WRAPPER std::optional<instant> now() const noexcept
    {
        instant read;
        if (::timebase_page_read(page_, 1, TIMEBASE_WANT_ALL, &read))
            return read;
        return std::nullopt;
    }

    /* What another tick means; empty if the page has no lines. */
    std::optional<instant> at(std::uint64_t ticks) const noexcept
    {
        instant read;
        if (::timebase_page_convert(page_, ticks, &read))
            return read;
        return std::nullopt;
    }

    /* The first tick that shows this time or a later one; empty if the page has no lines. */
    std::optional<std::uint64_t> ticks_at_mono(std::int64_t mono_ns) const noexcept
    {
        std::uint64_t found;
        if (::timebase_page_ticks_at_mono(page_, mono_ns, &found))
            return found;
        return std::nullopt;
    }

    std::optional<std::uint64_t> ticks_at_utc(std::int64_t utc_ns) const noexcept
    {
        std::uint64_t found;
        if (::timebase_page_ticks_at_utc(page_, utc_ns, &found))
            return found;
        return std::nullopt;
    }

  private:
    const ::timebase_page *page_;
};

} // namespace timebase

#endif
