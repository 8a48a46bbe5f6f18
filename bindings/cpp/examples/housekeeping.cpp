// SPDX-License-Identifier: MIT
// housekeeping: a thread of its own keeps the clock right, so that no reader ever has to.
#include <atomic>
#include <iostream>
#include <thread>

#include <timebase.hpp>

using namespace std::chrono_literals;

int main()
{
    const timebase::clock clock;
    std::atomic<bool> is_over = false;
    clock.set_maintenance(timebase::maintenance::manual);
    std::thread housekeeper([&] {
        while (!is_over) {
            clock.maintain(); // false: the lines are fresh already
            std::this_thread::sleep_for(100ms);
        }
    });
    const auto first = clock.mono_time();
    auto last = first;
    for (int i = 0; i < 10000000 && last - first < 500ms; i++)
        last = clock.mono_time();
    is_over = true;
    housekeeper.join();

    const timebase::statistics told = clock.statistics();
    std::cout << (last - first) / 1ms << " ms of reading: " << told.publications
              << " publications, " << told.rescues << " of them by readers\n";
}
