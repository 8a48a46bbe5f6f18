/* SPDX-License-Identifier: MIT */
/*
 * explain: in words, what keeps a file from being a page to follow.
 *
 *     std::error_code why_not;
 *     timebase::attached_clock clock = timebase::attach(path, why_not);
 *     if (why_not)
 *         std::cerr << why_not.message() << ' ' << timebase::explain(path, why_not) << '\n';
 *
 * timebase::error, which attach() throws, says so by itself.
 */
#ifndef TIMEBASE_EXPLAIN_HPP
#define TIMEBASE_EXPLAIN_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <system_error>

#include <timebase/counter.hpp>
#include <timebase/error.hpp>
#include <timebase/page.h>

namespace timebase
{

namespace detail
{
/* What is wrong with the first bytes of a file. */
inline std::string misfit(const ::timebase_page &page, std::size_t size)
{
    const auto number = [](auto value) { return std::to_string(value); };
    if (size < offsetof(::timebase_page, disruption_marker)) /* it does not even say what it is */
        return "it has " + number(size) + " bytes, and a page has " + number(sizeof page);
    if (page.magic != TIMEBASE_PAGE_MAGIC)
        return "it is something else, or of a machine with the other byte order";
    if (page.version != TIMEBASE_PAGE_VERSION)
        return "it is of version " + number(page.version) + ", and this program reads " +
               number(TIMEBASE_PAGE_VERSION) + ": restart its writer, or upgrade the program";
    if (size < sizeof page)
        return "it was cut short: " + number(size) + " of " + number(sizeof page) + " bytes";
    if ((page.incompatible & ~TIMEBASE_PAGE_UNDERSTOOD) != 0)
        return "it needs features that this program does not know: upgrade the program";
    const auto own = counter_in_use();
    if (page.counter_id != static_cast<unsigned>(own))
        return std::string("it is over the counter ") +
               name(static_cast<counter_id>(page.counter_id)) + " (" + number(page.counter_id) +
               "), and this process reads " + name(own);
    return "its lines cannot be: it is damaged or forged, restart its writer";
}

/* Why nothing in a page that could be followed is of now. */
inline std::string not_of_now(const ::timebase_page &page, std::size_t size)
{
    if (size < sizeof page)
        return {};
    if (page.seq == 0)
        return "it has no lines yet: its writer has not begun, try again";
    const auto begin = page.copy[page.seq & 1].before.start_ticks;
    if (static_cast<std::int64_t>(::timebase_ticks_ordered() - begin) < 0)
        return "its lines have not begun: they are of another boot or machine, restart its writer";
    return "its time is not the system clock's: it is of another boot, machine or time namespace, or "
           "the system clock was just stepped; try again in a second";
}
} // namespace detail

/* What is wrong with the file that attach() has refused for this reason; empty if the reason says all
 * there is. It only explains: the file is read anew. The library has seen that it is a regular one where
 * nobody else writes, or the reason would be another. */
inline std::string explain(const std::string &path, const std::error_code &refused)
{
    if (refused != errc::format && refused != errc::unsupported && refused != errc::stale)
        return {};
    std::FILE *const file = std::fopen(path.c_str(), "rb");
    if (file == nullptr)
        return {};
    ::timebase_page page{};
    const std::size_t size = std::fread(&page, 1, sizeof page, file);
    std::fclose(file);
    return refused == errc::stale ? detail::not_of_now(page, size) : detail::misfit(page, size);
}

} // namespace timebase

#endif
