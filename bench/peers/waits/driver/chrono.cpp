// SPDX-License-Identifier: MIT
//
// C++'s sleeps. steady_clock is CLOCK_MONOTONIC in libstdc++.
#include "peer.h"

#include <chrono>
#include <thread>

namespace
{

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

void delay(uint64_t ns)
{
    std::this_thread::sleep_for(nanoseconds(ns));
}

void until(const appointment *appointment)
{
    nanoseconds instant(appointment->mono_ns);
    std::this_thread::sleep_until(steady_clock::time_point(instant));
    appointment->event(appointment->argument);
}

const char *open_nothing(int)
{
    return nullptr;
}

constexpr peer peers[] = {
    {"chrono_sleep", delay, 0, until},
    {nullptr, nullptr, 0, nullptr},
};

} // namespace

const group chrono_group = {"std::this_thread", open_nothing, peers};
