// SPDX-License-Identifier: MIT
// Several threads at one clock, while another keeps it: time does not go back between them.
#include <atomic>
#include <thread>

#include "stand.hpp"

using namespace std::chrono_literals;

static std::int64_t look_on(timebase::clock clock, std::atomic<std::int64_t> &latest)
{
    std::int64_t backwards = 0;
    for (int i = 0; i < 100000; i++) {
        const std::int64_t seen = latest.load(std::memory_order_acquire);
        const std::int64_t now = clock.mono_ns();
        backwards += now < seen;
        latest.store(now, std::memory_order_release);
    }
    return backwards;
}

TEST_CASE("between threads time does not go back, whoever keeps the clock")
{
    const timebase::clock clock;
    std::atomic<bool> is_over = false;
    std::atomic<std::int64_t> latest = 0, backwards = 0;
    std::thread housekeeper([&] {
        std::error_code ec;
        while (!is_over) {
            clock.maintain(ec);
            std::this_thread::sleep_for(1ms);
        }
    });
    std::thread readers[2];
    for (std::thread &reader : readers)
        reader = std::thread([&] { backwards += look_on(clock, latest); });
    for (std::thread &reader : readers)
        reader.join();
    is_over = true;
    housekeeper.join();
    // Late publications are the machine's: their effect is bounded, and they are counted.
    std::error_code ec;
    if (clock.statistics(ec).late_publications == 0)
        CHECK(backwards == 0);
    CHECK(!ec);
}
