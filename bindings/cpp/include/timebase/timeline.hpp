/* SPDX-License-Identifier: MIT */
/*
 * timeline: converts ticks of the past, by the lines that the daemon kept. As timeline.h.
 *
 *     timebase::timeline past("/var/lib/timebase/timeline");
 *     timebase::instant then = past.at(ticks);           // or throws: too_early, gap, ambiguous
 *     for (const timebase::timeline::gap &gap : past.gaps())
 *         ...
 *
 * A timeline belongs to one thread at a time. boots(), gaps() and damages() allocate their vectors.
 */
#ifndef TIMEBASE_TIMELINE_HPP
#define TIMEBASE_TIMELINE_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <timebase/page.hpp>
#include <timebase/timeline.h>

namespace timebase
{

using boot_id = std::array<std::uint8_t, TIMEBASE_BOOT_ID_SIZE>;

inline const char *timeline_reason_name(int reason) noexcept
{
    return ::timebase_timeline_reason_name(reason);
}

class timeline
{
  public:
    using boot = ::timebase_timeline_boot;
    using gap = ::timebase_timeline_gap;
    using damage = ::timebase_timeline_damage;

    /* An empty one: each question is answered with errc::invalid. */
    timeline() noexcept = default;
    timeline(const std::string &folder, std::error_code &ec) noexcept
    {
        const bool is_path = folder.find('\0') == std::string::npos;
        ec = error_code_of(is_path ? ::timebase_timeline_open(&handle_, folder.c_str())
                                   : TIMEBASE_E_INVALID);
    }
    timeline(timeline &&other) noexcept : handle_(std::exchange(other.handle_, nullptr))
    {
    }
    timeline &operator=(timeline &&other) noexcept
    {
        std::swap(handle_, other.handle_);
        return *this;
    }
    timeline(const timeline &) = delete;
    timeline &operator=(const timeline &) = delete;
    ~timeline()
    {
        ::timebase_timeline_close(handle_);
    }
    explicit operator bool() const noexcept
    {
        return handle_ != nullptr;
    }

    /* What a tick meant; of whichever boot showed it, or of the one that is named. */
    instant at(std::uint64_t ticks, std::error_code &ec, const boot_id *of = nullptr) noexcept
    {
        instant out{};
        ec = error_code_of(::timebase_timeline_at(handle_, bytes(of), ticks, &out));
        return out;
    }
    /* `count` ticks; results[i] is 0, or why ticks[i] has no meaning. How many have one. */
    std::int64_t at_many(const std::uint64_t *ticks, std::size_t count, instant *out,
                         std::int32_t *results, std::error_code &ec,
                         const boot_id *of = nullptr) noexcept
    {
        static_assert(sizeof(instant) == sizeof(::timebase_instant), "an array of them is C's");
        const std::int64_t converted =
            ::timebase_timeline_at_many(handle_, bytes(of), ticks, count, out, results);
        ec = error_code_of(static_cast<int>(std::min<std::int64_t>(converted, 0)));
        return converted;
    }
    std::uint64_t ticks_at_utc(std::int64_t utc_ns, std::error_code &ec,
                               const boot_id *of = nullptr) noexcept
    {
        std::uint64_t out = 0;
        ec = error_code_of(::timebase_timeline_ticks_at_utc(handle_, bytes(of), utc_ns, &out));
        return out;
    }
    /* Convert by the newest boot's last lines what comes after them. */
    void set_drawing_on(bool drawing_on) noexcept
    {
        if (handle_ != nullptr)
            ::timebase_timeline_set_drawing_on(handle_, drawing_on);
    }

    /* Oldest first; none with an error: the folder can no longer be read. */
    std::vector<boot> boots(std::error_code &ec) const
    {
        return all<boot>(::timebase_timeline_boots, ec);
    }
    std::vector<gap> gaps(std::error_code &ec) const
    {
        return all<gap>(::timebase_timeline_gaps, ec);
    }
    std::vector<damage> damages(std::error_code &ec) const
    {
        return all<damage>(::timebase_timeline_damages, ec);
    }

#if TIMEBASE_EXCEPTIONS
    explicit timeline(const std::string &folder)
    {
        std::error_code ec;
        *this = timeline(folder, ec);
        if (ec)
            throw error(ec, "timebase: cannot open the timeline in " + folder);
    }
    instant at(std::uint64_t ticks, const boot_id *of = nullptr)
    {
        std::error_code ec;
        const instant out = at(ticks, ec, of);
        detail::throw_if(ec, "timebase: the timeline does not know this tick");
        return out;
    }
    std::uint64_t ticks_at_utc(std::int64_t utc_ns, const boot_id *of = nullptr)
    {
        std::error_code ec;
        const std::uint64_t out = ticks_at_utc(utc_ns, ec, of);
        detail::throw_if(ec, "timebase: the timeline does not know this time");
        return out;
    }
    std::vector<boot> boots() const
    {
        return all_or_throw<boot>(::timebase_timeline_boots);
    }
    std::vector<gap> gaps() const
    {
        return all_or_throw<gap>(::timebase_timeline_gaps);
    }
    std::vector<damage> damages() const
    {
        return all_or_throw<damage>(::timebase_timeline_damages);
    }
#endif

  private:
    static const std::uint8_t *bytes(const boot_id *id) noexcept
    {
        return id != nullptr ? id->data() : nullptr;
    }
    template <class Item>
    using look_at = std::int64_t (*)(::timebase_timeline *, Item *, std::size_t);

    /* As many as there are: a daemon may add some between two looks. */
    template <class Item>
    std::vector<Item> all(look_at<Item> look, std::error_code &ec) const
    {
        std::vector<Item> found;
        for (;;) {
            const std::int64_t there = look(handle_, found.data(), found.size());
            ec = error_code_of(static_cast<int>(std::min<std::int64_t>(there, 0)));
            const auto count = static_cast<std::size_t>(std::max<std::int64_t>(there, 0));
            const bool is_all = count <= found.size();
            found.resize(count);
            if (is_all)
                return found;
        }
    }
#if TIMEBASE_EXCEPTIONS
    template <class Item>
    std::vector<Item> all_or_throw(look_at<Item> look) const
    {
        std::error_code ec;
        std::vector<Item> found = all<Item>(look, ec);
        detail::throw_if(ec, "timebase: the timeline cannot be read");
        return found;
    }
#endif

    ::timebase_timeline *handle_ = nullptr;
};

} // namespace timebase

#endif
