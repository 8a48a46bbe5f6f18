// SPDX-License-Identifier: MIT
// interval: which of two events came first, if that can be known at all.
#include <iostream>

#include <timebase.hpp>

static const char *order(const timebase::interval &a, const timebase::interval &b)
{
    if (a.before(b))
        return "definitely before";
    return b.before(a) ? "definitely after" : "overlapping, nobody knows";
}

int main()
{
    const timebase::clock clock;
    clock.utc_at_ns(timebase::ticks()); // learns the length of a tick: up to 1 ms, once

    // Bounds against the system clock; for true UTC: utc_interval().
    const timebase::interval a = clock.realtime_interval(), b = clock.realtime_interval();
    if (a.status == timebase::status::unknown || b.status == timebase::status::unknown) {
        std::cerr << "nothing is known about the time\n";
        return 1;
    }
    // Wait out the doubt: from then on everybody's clock agrees that a is over.
    timebase::interval c;
    int readings = 0;
    do
        c = clock.realtime_interval();
    while (++readings < 100000000 && !a.before(c));
    std::cout << "a and b, one right after the other: " << order(a, b) << '\n'
              << "a and c, " << readings << " readings later: " << order(a, c) << '\n';
    return a.before(c) ? 0 : 1;
}
