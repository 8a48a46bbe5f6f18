// SPDX-License-Identifier: MIT
//
// The body of a probe: a fresh process that links one peer only and takes its first reading, or its
// error.
//
//   probe CLOCK start          "MONOTONIC_NS FELL_BACK": the instant after the first reading
//   probe CLOCK error 1 60     "ready FELL_BACK", then at each mark "SECONDS ERROR_NS WIDTH_NS"
//
// Error is peer - reference. A UTC clock is held against CLOCK_REALTIME; an interval clock's
// elapsed time since the first reading is held against that of CLOCK_MONOTONIC.
#ifndef PEERS_PROBE_HPP
#define PEERS_PROBE_HPP

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <time.h>

namespace probe
{

struct offset {
    int64_t ns; // peer - reference
    int64_t width_ns; // of the sandwich it was taken from; the offset is good to half of it
};

inline int64_t kernel_ns(clockid_t clock)
{
    timespec now;
    if (clock_gettime(clock, &now) != 0)
        abort();
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

// The narrowest of 1500 sandwiches: interrupts and cache misses widen a sandwich, and a wide one is
// not taken.
template <class Read> offset narrowest(clockid_t reference, Read read)
{
    offset best = {0, INT64_MAX};
    for (int i = 0; i < 1500; i++) {
        int64_t before = kernel_ns(reference);
        int64_t reading = read();
        int64_t width = kernel_ns(reference) - before;
        if (width >= 0 && width < best.width_ns)
            best = {reading - (before + width / 2), width};
    }
    return best;
}

// A self-disciplined peer learns only when it is read, so it is read every 10 ms, as a user would.
template <class Read> void read_until(int64_t mono_ns, Read read)
{
    const timespec pause = {0, 10000000};
    while (kernel_ns(CLOCK_MONOTONIC) < mono_ns) {
        read();
        nanosleep(&pause, nullptr);
    }
}

template <class Read> void errors(int marks, char **mark, clockid_t reference, Read read)
{
    const int64_t begin = kernel_ns(CLOCK_MONOTONIC);
    const int64_t zero = reference == CLOCK_MONOTONIC ? narrowest(reference, read).ns : 0;
    for (int i = 0; i < marks; i++) {
        read_until(begin + atoll(mark[i]) * INT64_C(1000000000), read);
        offset at = narrowest(reference, read);
        printf("%s %lld %lld\n", mark[i], (long long)(at.ns - zero), (long long)at.width_ns);
    }
}

inline bool never()
{
    return false;
}

// argv is [program, clock, mode, marks...]; the reference says which kind of clock `read` is.
template <class Read>
int run(int argc, char **argv, clockid_t reference, Read read, bool (*fell_back)() = never)
{
    read();
    const int64_t first_ns = kernel_ns(CLOCK_MONOTONIC);
    if (argc == 3 && strcmp(argv[2], "start") == 0) {
        printf("%lld %d\n", (long long)first_ns, fell_back());
        return 0;
    }
    if (argc < 4 || strcmp(argv[2], "error") != 0) {
        fprintf(stderr, "usage: %s CLOCK start | error SECONDS...\n", argv[0]);
        return 1;
    }
    printf("ready %d\n", fell_back());
    fflush(stdout);
    errors(argc - 3, argv + 3, reference, read);
    return 0;
}

inline int unknown_clock(const char *program, const char *clocks)
{
    fprintf(stderr, "%s: the first argument is one of: %s\n", program, clocks);
    return 1;
}

} // namespace probe

#endif
