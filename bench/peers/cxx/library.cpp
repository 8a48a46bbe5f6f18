// SPDX-License-Identifier: MIT
//
// The C++ peers and timebase itself, each called in a plain loop.
#include "../peers.h"

#include <absl/time/clock.h>
#include <absl/time/time.h>
#include <chrono>
#include <timebase.h>
#include <time.h>
#include <x86intrin.h>

namespace
{

// The compiler must believe that someone looks at each reading; this costs no instruction.
inline void keep(int64_t reading)
{
    asm volatile("" : : "r"(reading));
}

template <class Read> uint64_t repeat(uint64_t calls, Read read)
{
    for (uint64_t i = 0; i < calls; i++)
        keep(read());
    return calls;
}

inline int64_t kernel_ns(clockid_t clock)
{
    timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

template <class Clock> int64_t chrono_ns()
{
    using namespace std::chrono;
    return duration_cast<nanoseconds>(Clock::now().time_since_epoch()).count();
}

uint64_t counter(uint64_t calls)
{
    return repeat(calls, [] { return (int64_t)__rdtsc(); });
}

uint64_t gettime_realtime(uint64_t calls)
{
    return repeat(calls, [] { return kernel_ns(CLOCK_REALTIME); });
}

uint64_t gettime_monotonic(uint64_t calls)
{
    return repeat(calls, [] { return kernel_ns(CLOCK_MONOTONIC); });
}

uint64_t chrono_system(uint64_t calls)
{
    return repeat(calls, [] { return chrono_ns<std::chrono::system_clock>(); });
}

uint64_t chrono_steady(uint64_t calls)
{
    return repeat(calls, [] { return chrono_ns<std::chrono::steady_clock>(); });
}

uint64_t absl_nanos(uint64_t calls)
{
    return repeat(calls, [] { return absl::GetCurrentTimeNanos(); });
}

uint64_t absl_now(uint64_t calls)
{
    return repeat(calls, [] { return absl::ToUnixNanos(absl::Now()); });
}

// timebase_clock_default() is inside the loop on purpose: that is how a caller writes it.
uint64_t timebase_utc_unordered(uint64_t calls)
{
    return repeat(calls, [] { return timebase_utc_ns_unordered(timebase_clock_default()); });
}

uint64_t timebase_utc(uint64_t calls)
{
    return repeat(calls, [] { return timebase_utc_ns(timebase_clock_default()); });
}

uint64_t timebase_mono(uint64_t calls)
{
    return repeat(calls, [] { return timebase_mono_ns(timebase_clock_default()); });
}

uint64_t timebase_interval_utc(uint64_t calls)
{
    return repeat(calls, [] {
        timebase_interval interval = {};
        int status = timebase_utc_interval(timebase_clock_default(), &interval);
        keep(interval.earliest_ns);
        keep(interval.latest_ns);
        return (int64_t)status;
    });
}

bool never()
{
    return false;
}

bool timebase_fell_back()
{
    return timebase_counter_id() == TIMEBASE_COUNTER_OS;
}

struct named {
    const char *name;
    uint64_t (*run)(uint64_t calls);
    bool (*fell_back)(); // Abseil falls back too, but does not say so
};

constexpr named peers[] = {
    {"counter", counter, never},
    {"clock_gettime_realtime", gettime_realtime, never},
    {"clock_gettime_monotonic", gettime_monotonic, never},
    {"chrono_system", chrono_system, never},
    {"chrono_steady", chrono_steady, never},
    {"absl_nanos", absl_nanos, never},
    {"absl_now", absl_now, never},
    {"timebase_utc_unordered", timebase_utc_unordered, timebase_fell_back},
    {"timebase_utc", timebase_utc, timebase_fell_back},
    {"timebase_mono", timebase_mono, timebase_fell_back},
    {"timebase_utc_interval", timebase_interval_utc, timebase_fell_back},
};
constexpr uint32_t peer_count = sizeof peers / sizeof peers[0];

} // namespace

const char *cxx_peer_name(uint32_t peer)
{
    return peer < peer_count ? peers[peer].name : nullptr;
}

uint64_t cxx_peer_run(uint32_t peer, uint64_t calls)
{
    return peer < peer_count ? peers[peer].run(calls) : 0;
}

int32_t cxx_peer_fell_back(uint32_t peer)
{
    return peer < peer_count && peers[peer].fell_back();
}
