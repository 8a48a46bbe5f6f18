// SPDX-License-Identifier: MIT
// calendar: two units of work every millisecond, each at its time, for a fifth of a second.
#include <array>
#include <iostream>

#include <timebase.hpp>

using namespace std::chrono_literals;

// The error that so much of all releases stayed below.
static double quantile_ns(const timebase::unit_result &result, double share)
{
    std::uint64_t counted = 0;
    int bucket = 0;
    while (bucket < TIMEBASE_CALENDAR_BUCKETS &&
           static_cast<double>(counted) < share * static_cast<double>(result.released))
        counted += result.errors[bucket++];
    return timebase::calendar_bucket_ns(bucket);
}

int main()
{
    std::uint64_t samples = 0, sent = 0;
    auto sample = [&] { samples++; };
    auto send = [&] { sent += samples; };
    const auto how = timebase::wait_flag::sleep | timebase::wait_flag::prepare;
    const std::array units = {
        timebase::unit("sample", sample).every(1ms).takes(20us).waiting(how),
        timebase::unit("send", send).from(500us).every(1ms).takes(50us).within(200us).waiting(how),
    };
    static timebase::waiter waiter;
    timebase::calendar calendar(units);
    calendar.length(200ms);

    for (const timebase::calendar_problem &problem : calendar.admit(waiter))
        std::cout << (problem.warning != 0 ? "warning: " : "fault: ") << problem.text << '\n';

    std::array<timebase::unit_result, units.size()> results;
    if (!calendar.run(waiter, results)) {
        std::cerr << "not admitted\n";
        return 1;
    }
    for (std::size_t i = 0; i < units.size(); i++)
        std::cout << units[i].name << ": " << results[i].released << " run, " << results[i].skipped
                  << " skipped, half of them within " << quantile_ns(results[i], 0.5) << " ns\n";
}
