// SPDX-License-Identifier: MIT
// hit: begin a function at an instant, and see how well that went.
#include <iostream>

#include <timebase.hpp>

int main()
{
    using namespace std::chrono_literals;

    // One CPU, SCHED_FIFO, locked memory, no deep idle states: as far as the kernel grants it.
    timebase::realtime_request wish{};
    wish.wanted = TIMEBASE_REALTIME_ALL;
    wish.priority = 50;
    wish.cpu = -1;
    const timebase::realtime rights(wish);

    // It learns the CPU that the thread is on: pin first. And, from wake-ups that do not matter, how
    // long waking up takes: so the first one that does is not late.
    static timebase::waiter waiter;
    for (int i = 0; i < 50; i++)
        waiter.until(timebase::steady_clock::now() + 1ms, timebase::wait_flag::sleep);

    // Rehearsed: called some us before its time, to have code and data warm, and at its time. Only the
    // second call may be seen. Each millisecond, asleep for most of it.
    int packets = 0, late = 0;
    const auto send = [&] { packets += timebase::rehearsing() ? 0 : 1; };
    const auto start = timebase::steady_clock::now();
    for (int i = 1; i <= 20; i++) {
        const timebase::wait_result result = waiter.call(
            start + i * 1ms, send, timebase::wait_flag::sleep | timebase::wait_flag::rehearse);
        late += result.had_passed;
        std::cout << result.error_ns << " ns" << (result.disturbance ? ", disturbed\n" : "\n");
    }
    std::cout << packets << " sent, " << late << " of them late\n";
    return packets == 20 ? 0 : 1;
}
