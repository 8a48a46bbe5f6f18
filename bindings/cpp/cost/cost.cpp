// SPDX-License-Identifier: MIT
// What a reading costs in C++, beside C's and those of others: lines of JSON, bindings/README.md.
//
// Every row takes a batch of calls in turn, in an order that moves on by one each trial, on one
// CPU. A row's time is the mean of its batch, between two serialised readings of the counter.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sched.h>
#include <vector>

#include <absl/time/clock.h>
#include <timebase.hpp>

#include "c_inline.h"

namespace
{

template <class Value> void keep(const Value &value)
{
    __asm__ __volatile__("" : : "r"(value) : "memory");
}

struct row {
    const char *reading;
    const char *who;
    void (*run)(const timebase_clock *clock, std::uint64_t calls);
    std::vector<double> ns = {};
};

template <class Read> void repeat(std::uint64_t calls, Read read)
{
    for (; calls != 0; calls--)
        keep(read());
}

void cpp_utc_ns(const timebase_clock *handle, std::uint64_t calls)
{
    const timebase::clock clock(handle);
    repeat(calls, [&] { return clock.utc_ns(); });
}

void cpp_utc_clock(const timebase_clock *, std::uint64_t calls)
{
    repeat(calls, [] { return timebase::utc_clock::now().time_since_epoch().count(); });
}

void cpp_mono_ns(const timebase_clock *handle, std::uint64_t calls)
{
    const timebase::clock clock(handle);
    repeat(calls, [&] { return clock.mono_ns(); });
}

void cpp_steady_clock(const timebase_clock *, std::uint64_t calls)
{
    repeat(calls, [] { return timebase::steady_clock::now().time_since_epoch().count(); });
}

void cpp_utc_bounded(const timebase_clock *handle, std::uint64_t calls)
{
    const timebase::clock clock(handle);
    for (; calls != 0; calls--) {
        const timebase::interval out = clock.utc_interval();
        keep(static_cast<int>(out.status));
        keep(out.earliest_ns);
        keep(out.latest_ns);
    }
}

void cpp_ticks(const timebase_clock *, std::uint64_t calls)
{
    repeat(calls, [] { return timebase::ticks(); });
}

template <class Clock> void std_clock(const timebase_clock *, std::uint64_t calls)
{
    repeat(calls, [] { return Clock::now().time_since_epoch().count(); });
}

void abseil(const timebase_clock *, std::uint64_t calls)
{
    repeat(calls, [] { return absl::GetCurrentTimeNanos(); });
}

std::vector<row> rows()
{
    return {{"utc_ns", "C inline", c_utc_ns},
            {"utc_ns", "timebase", cpp_utc_ns},
            {"utc_ns", "timebase utc_clock", cpp_utc_clock},
            {"utc_bounded", "C inline", c_utc_bounded},
            {"utc_bounded", "timebase", cpp_utc_bounded},
            {"mono_ns", "C inline", c_mono_ns},
            {"mono_ns", "timebase", cpp_mono_ns},
            {"mono_ns", "timebase steady_clock", cpp_steady_clock},
            {"ticks", "C inline", c_ticks},
            {"ticks", "timebase", cpp_ticks},
            {"own_clock", "std::chrono::system_clock", std_clock<std::chrono::system_clock>},
            {"own_clock", "std::chrono::steady_clock", std_clock<std::chrono::steady_clock>},
            {"peer", "absl::GetCurrentTimeNanos", abseil}};
}

double batch_ns(const row &one, std::uint64_t calls, double period_ns)
{
    const timebase_clock *clock = timebase_clock_default();
    one.run(clock, 16); // the row before has filled the caches and predictors with its own
    const std::uint64_t begin = timebase_stopwatch_begin();
    one.run(clock, calls);
    const std::uint64_t ticks = timebase_stopwatch_end() - begin;
    return static_cast<double>(ticks) * period_ns / static_cast<double>(calls);
}

// The last CPU that this process may use: the first ones usually serve more interrupts.
void pin()
{
    cpu_set_t allowed, one;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    for (int cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--)
        if (CPU_ISSET(static_cast<std::size_t>(cpu), &allowed)) {
            CPU_SET(static_cast<std::size_t>(cpu), &one);
            sched_setaffinity(0, sizeof one, &one);
            return;
        }
}

void print(row &one)
{
    std::sort(one.ns.begin(), one.ns.end());
    const std::size_t count = one.ns.size();
    std::printf("{\"language\": \"C++\", \"reading\": \"%s\", \"who\": \"%s\", "
                "\"median_ns\": %.3f, \"p99_ns\": %.3f, \"trials\": %zu}\n",
                one.reading, one.who, one.ns[count / 2], one.ns[count * 99 / 100], count);
}

} // namespace

int main(int argc, char **argv)
{
    const int trials = argc > 1 ? std::atoi(argv[1]) : 1001;
    const std::uint64_t calls = 1000;
    pin();
    const double period_ns = 1e9 / static_cast<double>(timebase::probe_counter().frequency_hz);
    std::vector<row> all = rows();
    for (int trial = 0; trial < trials; trial++)
        for (std::size_t i = 0; i < all.size(); i++) {
            row &one = all[(i + static_cast<std::size_t>(trial)) % all.size()];
            one.ns.push_back(batch_ns(one, calls, period_ns));
        }
    for (row &one : all)
        print(one);
    return trials > 0 ? 0 : 2;
}
