// SPDX-License-Identifier: MIT
// The readings of order.c by way of C++.
#include <timebase.hpp>

#ifdef OWN

extern "C" {
std::int64_t own_utc();
std::int64_t own_mono();
}

std::int64_t own_utc()
{
    return timebase::utc_clock::now().time_since_epoch().count();
}

std::int64_t own_mono()
{
    return timebase::steady_clock::now().time_since_epoch().count();
}

#else

extern "C" {
std::int64_t utc_ns(timebase::clock clock);
std::int64_t mono_ns(timebase::clock clock);
std::int64_t tai_ns(timebase::clock clock);
std::int64_t utc_ns_unordered(timebase::clock clock);
std::int64_t mono_ns_unordered(timebase::clock clock);
std::uint64_t ticks();
std::uint64_t ticks_ordered();
void now(const timebase_clock *clock, timebase::instant &out);
}

std::int64_t utc_ns(timebase::clock clock)
{
    return clock.utc_ns();
}

std::int64_t mono_ns(timebase::clock clock)
{
    return clock.mono_time().time_since_epoch().count();
}

std::int64_t tai_ns(timebase::clock clock)
{
    return clock.tai_ns();
}

std::int64_t utc_ns_unordered(timebase::clock clock)
{
    return timebase::utc_ns_unordered(clock);
}

std::int64_t mono_ns_unordered(timebase::clock clock)
{
    return timebase::mono_ns_unordered(clock);
}

std::uint64_t ticks()
{
    return timebase::ticks();
}

std::uint64_t ticks_ordered()
{
    return timebase::ticks_ordered();
}

void now(const timebase_clock *clock, timebase::instant &out)
{
    timebase_now(clock, &out);
}

#endif
