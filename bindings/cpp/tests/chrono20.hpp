/* SPDX-License-Identifier: MIT */
/*
 * chrono20: std::chrono::utc_clock and clock_cast for a C++20 whose library has not got them yet, as
 * in Debian 12 (libstdc++ has them from 13 on, libc++ 22 has no clock_cast). It is written from the
 * standard, [time.clock.utc] and [time.clock.cast], so that the conversions of timebase.hpp are tried
 * as a complete library would use them. Included before all else, by every file of a program.
 */
#ifndef TEST_CHRONO20_HPP
#define TEST_CHRONO20_HPP

#include <array>
#include <chrono>

#if __cplusplus >= 202002L && defined(__GLIBCXX__) && __cpp_lib_chrono < 201907L
#undef __cpp_lib_chrono
#define __cpp_lib_chrono 201907L

namespace std::chrono
{

/* libstdc++ 12 declares it. */
class utc_clock
{
    /* The days before which leap seconds were, each after the one before: IERS' Bulletin C. */
    static auto begins()
    {
        constexpr year_month_day dates[] = {
            July / 1 / 1972,    January / 1 / 1973, January / 1 / 1974, January / 1 / 1975,
            January / 1 / 1976, January / 1 / 1977, January / 1 / 1978, January / 1 / 1979,
            January / 1 / 1980, July / 1 / 1981,    July / 1 / 1982,    July / 1 / 1983,
            July / 1 / 1985,    January / 1 / 1988, January / 1 / 1990, January / 1 / 1991,
            July / 1 / 1992,    July / 1 / 1993,    July / 1 / 1994,    January / 1 / 1996,
            July / 1 / 1997,    January / 1 / 1999, January / 1 / 2006, January / 1 / 2009,
            July / 1 / 2012,    July / 1 / 2015,    January / 1 / 2017,
        };
        array<sys_seconds, std::size(dates)> out;
        for (size_t i = 0; i < out.size(); i++)
            out[i] = sys_days(dates[i]);
        return out;
    }

  public:
    using duration = system_clock::duration;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = chrono::time_point<utc_clock>;

    template <class D> static auto from_sys(const sys_time<D> &when)
    {
        using common = common_type_t<D, seconds>;
        seconds leaps(0);
        for (const sys_seconds begin : begins())
            leaps += seconds(when >= begin);
        return utc_time<common>(when.time_since_epoch() + leaps);
    }

    /* All of a leap second is the last moment before it. */
    template <class D> static auto to_sys(const utc_time<D> &when)
    {
        using common = common_type_t<D, seconds>;
        sys_time<common> out(when.time_since_epoch());
        for (const sys_seconds begin : begins()) {
            if (out >= begin + seconds(1))
                out -= seconds(1);
            else if (out >= begin)
                return begin - common(1);
        }
        return out;
    }
};

/* ---- [time.clock.cast.id], [.sys.utc], [.sys], [.utc]: one step, if the clock C has it */

template <class Dest, class Source> struct clock_time_conversion {
};

template <class Clock> struct clock_time_conversion<Clock, Clock> {
    template <class D> auto operator()(const time_point<Clock, D> &t) const { return t; }
};
template <> struct clock_time_conversion<system_clock, system_clock> {
    template <class D> auto operator()(const sys_time<D> &t) const { return t; }
};
template <> struct clock_time_conversion<utc_clock, utc_clock> {
    template <class D> auto operator()(const utc_time<D> &t) const { return t; }
};
template <> struct clock_time_conversion<utc_clock, system_clock> {
    template <class D> auto operator()(const sys_time<D> &t) const { return utc_clock::from_sys(t); }
};
template <> struct clock_time_conversion<system_clock, utc_clock> {
    template <class D> auto operator()(const utc_time<D> &t) const { return utc_clock::to_sys(t); }
};
template <class Source> struct clock_time_conversion<system_clock, Source> {
    template <class D, class C = Source>
    auto operator()(const time_point<Source, D> &t) const -> decltype(C::to_sys(t))
    {
        return C::to_sys(t);
    }
};
template <class Dest> struct clock_time_conversion<Dest, system_clock> {
    template <class D, class C = Dest>
    auto operator()(const sys_time<D> &t) const -> decltype(C::from_sys(t))
    {
        return C::from_sys(t);
    }
};
template <class Source> struct clock_time_conversion<utc_clock, Source> {
    template <class D, class C = Source>
    auto operator()(const time_point<Source, D> &t) const -> decltype(C::to_utc(t))
    {
        return C::to_utc(t);
    }
};
template <class Dest> struct clock_time_conversion<Dest, utc_clock> {
    template <class D, class C = Dest>
    auto operator()(const utc_time<D> &t) const -> decltype(C::from_utc(t))
    {
        return C::from_utc(t);
    }
};

/* ---- [time.clock.cast.fn]: of the shortest ways there has to be one alone */

template <class T, class To>
concept steps_to = requires(const T &t) { clock_time_conversion<To, typename T::clock>()(t); };

template <class To, steps_to<To> T> auto step(const T &t)
{
    return clock_time_conversion<To, typename T::clock>()(t);
}

template <class Dest, class Via, class T>
concept goes_by = requires(const T &t) { step<Dest>(step<Via>(t)); };

template <class Dest, class First, class Second, class T>
concept goes_far = requires(const T &t) { step<Dest>(step<Second>(step<First>(t))); };

template <class Dest, class Source, class D> auto clock_cast(const time_point<Source, D> &t)
{
    using T = time_point<Source, D>;
    constexpr bool by_sys = goes_by<Dest, system_clock, T>, by_utc = goes_by<Dest, utc_clock, T>;
    if constexpr (steps_to<T, Dest>) {
        return step<Dest>(t);
    } else if constexpr (by_sys || by_utc) {
        static_assert(by_sys != by_utc, "two ways of two steps");
        if constexpr (by_sys)
            return step<Dest>(step<system_clock>(t));
        else
            return step<Dest>(step<utc_clock>(t));
    } else {
        constexpr bool is_far = goes_far<Dest, system_clock, utc_clock, T>;
        static_assert(is_far != goes_far<Dest, utc_clock, system_clock, T>, "no way, or two");
        if constexpr (is_far)
            return step<Dest>(step<utc_clock>(step<system_clock>(t)));
        else
            return step<Dest>(step<system_clock>(step<utc_clock>(t)));
    }
}

} // namespace std::chrono
#endif

#endif
