// SPDX-License-Identifier: MIT
// commit_wait: number an event by a time that nobody who hears of it can be behind.
#include <iostream>

#include <timebase.hpp>

int main()
{
    std::error_code why_not; // the daemon's clock: the process' own has no more than an estimate
    const timebase::attached_clock clock = timebase::attach_or_default(nullptr, why_not);
    const std::int64_t deadline_ns = clock.mono_ns() + 100000000;

    std::error_code ec;
    const timebase::interval now = clock.wait_bound(50000000, deadline_ns, ec);
    if (ec) {
        // Where nobody promises anything about UTC: take another order then.
        std::cout << "no bound below 50 ms: " << ec.message() << '\n';
        return ec == timebase::errc::invalid ? 1 : 0;
    }
    std::cout << "the work of the transaction goes here, while the doubt grows old\n";
    clock.wait_after(now.latest_ns, timebase::no_deadline, ec);
    std::cout << "committed at " << now.latest_ns << ": " << (ec ? ec.message() : "certain")
              << '\n';
    return ec ? 1 : 0;
}
