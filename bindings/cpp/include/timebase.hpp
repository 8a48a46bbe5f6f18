/* SPDX-License-Identifier: MIT */
/*
 * timebase for C++17: the C headers' clock as <chrono> knows clocks, with the errors, lifetimes and
 * callables of the language. Header-only; link with the C library.
 *
 *     #include <timebase.hpp>                             // pkg-config --cflags --libs timebase
 *                                                         // or find_package(timebase)
 *     auto now = timebase::utc_clock::now();              // a time_point, as any other clock's
 *     std::int64_t stamp = timebase::utc_ns();            // the same, as a number
 *
 *     timebase::interval when = timebase::utc_interval();
 *     if (when.status == timebase::status::synchronized)
 *         ... true UTC was between when.earliest() and when.latest() ...
 *
 *     timebase::attached_clock shared = timebase::attach();   // the daemon's page; gives it back
 *     std::int64_t same = shared.utc_ns();                    // by itself
 *
 * Each header is the manual of its noun, and says what is different from the C header of that name;
 * for all else the C header holds. A reading compiles to the instructions of C's inline function.
 *
 *     error.hpp      error_code for the C library's errors
 *     explain.hpp    what is wrong with a page that was refused, in words
 *     counter.hpp    ticks, and what is known about the counter
 *     page.hpp       an instant; reading a page in memory
 *     interval.hpp   which of two events came first
 *     clock.hpp      the time; attaching to a daemon's page
 *     chrono.hpp     utc_clock, tai_clock, steady_clock
 *     timeline.hpp   what a tick meant, long afterwards
 *     stopwatch.hpp  durations of a few instructions
 *     wait.hpp       start at an exact tick, with any callable
 *     realtime.hpp   what punctual threads ask of the kernel, and give back
 *     calendar.hpp   units of work dispatched at their times
 *
 * Errors. A function that can fail has two forms, as in <filesystem>: the one with a
 * std::error_code & as its last argument reports there and does not throw; the one without throws
 * timebase::error, a std::system_error. With -fno-exceptions only the first is declared.
 *
 * Nothing here allocates but what says so: the functions that return vectors or take strings.
 */
#ifndef TIMEBASE_HPP
#define TIMEBASE_HPP

#include <timebase/error.hpp>
#include <timebase/explain.hpp>

#include <timebase/counter.hpp>

#include <timebase/page.hpp>

#include <timebase/interval.hpp>

#include <timebase/chrono.hpp>
#include <timebase/clock.hpp>

#include <timebase/calendar.hpp>
#include <timebase/realtime.hpp>
#include <timebase/stopwatch.hpp>
#include <timebase/timeline.hpp>
#include <timebase/wait.hpp>

#endif
