// SPDX-License-Identifier: MIT
// now: the time, how far it can be believed, and a duration.
#include <iostream>

#include <timebase.hpp>

int main()
{
    const timebase::instant now = timebase::now();
    std::cout << "UTC " << now.utc_ns << " ns, +/- " << now.maxerror_ns
              << " ns from the system clock, " << timebase::name(now.status()) << '\n';

    const auto start = timebase::steady_clock::now();
    volatile unsigned sum = 0;
    for (unsigned i = 0; i < 1000; i++)
        sum = sum + i;
    const std::chrono::duration<double, std::micro> elapsed = timebase::steady_clock::now() - start;
    std::cout << "a thousand additions: " << elapsed.count() << " us\n";
    return elapsed.count() >= 0 ? 0 : 1;
}
