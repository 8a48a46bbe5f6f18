// SPDX-License-Identifier: MIT
// Waits, calendars, stopwatches, settings and timelines: what the C++ adds to them.
#include <array>
#include <cstdlib>
#include <new>
#include <stdexcept>

#include "stand.hpp"

using namespace std::chrono_literals;

// Every allocation of this program counts itself.
static std::size_t allocations;

void *operator new(std::size_t size)
{
    allocations++;
    if (void *memory = std::malloc(size))
        return memory;
    std::abort();
}
void operator delete(void *memory) noexcept
{
    std::free(memory);
}
void operator delete(void *memory, std::size_t) noexcept
{
    std::free(memory);
}

static timebase::waiter &waiter()
{
    static timebase::waiter one;
    return one;
}

TEST_CASE("any callable is called once, at its time or after it, without an allocation")
{
    timebase::waiter &w = waiter();
    std::array<std::uint64_t, 4> large{1, 2, 3, 4}; // more than any small buffer would hold
    std::uint64_t calls = 0, sum = 0;
    std::error_code ec;
    const std::size_t before = allocations;
    const auto when = timebase::steady_clock::now() + 200us;
    const auto result = w.call(
        when,
        [&calls, &sum, large] {
            calls++;
            sum += large[0] + large[3];
        },
        timebase::wait_flag::prepare, ec);
    CHECK(allocations == before);
    CHECK(!ec);
    CHECK(calls == 1);
    CHECK(sum == 5);
    CHECK(result.target_ticks != 0);
    // A wait that was not late by its own word has not begun before its bound.
    CHECK((result.had_passed || result.error_ns > -1000.0));
}

TEST_CASE("a time that has passed is late, and the function is called all the same")
{
    int calls = 0;
    std::error_code ec;
    auto count = [&] { calls++; };
    CHECK(waiter()
              .call(timebase::steady_clock::now() - 1ms, count, timebase::wait_flag::none, ec)
              .had_passed);
    CHECK(waiter()
              .call(timebase::utc_clock::now() - 1ms, count, timebase::wait_flag::none, ec)
              .had_passed);
    CHECK(waiter()
              .call_ticks(timebase::ticks_ordered() - 1, count, timebase::wait_flag::none, ec)
              .had_passed);
    CHECK(calls == 3);
}

TEST_CASE("a function is rehearsed if there is time for that, knows it, and is called once")
{
    int calls = 0, rehearsals = 0;
    std::error_code ec;
    const auto result = waiter().call(
        timebase::steady_clock::now() + 20ms,
        [&] { timebase::rehearsing() ? rehearsals++ : calls++; }, timebase::wait_flag::rehearse,
        ec);
    CHECK(calls == 1);
    CHECK(rehearsals <= 1);
    CHECK(rehearsals >= static_cast<int>(result.prepared)); // a late wait tells of none
    CHECK(!timebase::rehearsing());
}

#if TIMEBASE_EXCEPTIONS
TEST_CASE("what the function throws comes out of the wait, not through C")
{
    CHECK_THROWS_WITH_AS(waiter().call(timebase::steady_clock::now() + 100us,
                                       [] { throw std::runtime_error("by the event"); }),
                         "by the event", std::runtime_error);
    int calls = 0; // and the waiter is as good as before
    waiter().call(timebase::steady_clock::now() + 100us, [&] { calls++; });
    CHECK(calls == 1);
}

TEST_CASE("a time of any unit will do")
{
    const auto whole =
        std::chrono::time_point_cast<std::chrono::milliseconds>(timebase::steady_clock::now());
    CHECK(waiter().until(whole).had_passed);
    CHECK_THROWS_AS(waiter().until(timebase::mono_time::max()), timebase::error);
    CHECK_THROWS_AS(waiter().set_margin(2.0, 0.5), timebase::error);
}
#endif

TEST_CASE("waits that cannot be are errors")
{
    std::error_code ec;
    waiter().until_ticks(~std::uint64_t(0), timebase::wait_flag::none, ec);
    CHECK(ec == timebase::errc::invalid);
    waiter().until(timebase::mono_time::max(), timebase::wait_flag::none, ec);
    CHECK(ec == timebase::errc::invalid);
    waiter().until(timebase::steady_clock::now(), static_cast<timebase::wait_flag>(1 << 20), ec);
    CHECK(ec == timebase::errc::invalid);
}

TEST_CASE("delays last at least as long as they are asked for, or say so")
{
    std::error_code ec;
    const auto result = waiter().delay(20us, timebase::wait_flag::never_early, ec);
    CHECK(!ec);
    CHECK(result.target_ticks > 0);
    waiter().delay(-5ns, timebase::wait_flag::none, ec);
    CHECK(!ec);
    waiter().delay_unmeasured(100ns);
    waiter().delay_unmeasured(-100ns);
    CHECK(waiter().describe().calibrations >= 1);
    CHECK(waiter().read_fine(timebase::ticks()).bound_ticks >= 0);
    const auto base = timebase::ticks();
    const auto before = waiter().take_fine();
    const auto after = waiter().take_fine();
    CHECK(waiter().place_fine(before, base).last_ticks < waiter().place_fine(after, base).ticks);
}

TEST_CASE("a stopwatch measures a callable, and a scope left by return or throw")
{
    timebase::stopwatch watch;
    int calls = 0;
    const timebase::elapsed one = watch.measure([&](int by) { calls += by; }, 3);
    CHECK(calls == 3);
    CHECK(one.uncertainty_ns >= 0);
    timebase::elapsed all{};
    {
        auto lap = watch.scope(all);
        waiter().delay_unmeasured(10us);
    }
    CHECK(all.ns > 1000);
    CHECK(all.duration() > 1us);
#if TIMEBASE_EXCEPTIONS
    timebase::elapsed left{};
    try {
        auto lap = watch.scope(left);
        waiter().delay_unmeasured(10us);
        throw std::runtime_error("out");
    } catch (const std::runtime_error &) {
    }
    CHECK(left.ns > 1000);
#endif
}

TEST_CASE("a calendar runs its units, and says what is wrong with another before")
{
    int samples = 0, sent = 0;
    auto sample = [&] { samples++; };
    auto send = [&] { sent++; };
    std::array<timebase::unit, 2> units = {
        timebase::unit("sample", sample).every(1ms).takes(20us).times(5),
        timebase::unit("send", send).from(500us).every(1ms).takes(50us).within(200us).times(5)};
    timebase::calendar calendar(units);
    std::array<timebase::unit_result, 2> results;
    std::error_code ec;
    CHECK(calendar.run(waiter(), results, ec));
    CHECK(!ec);
    CHECK(results[0].released + results[0].skipped == 5);
    CHECK(results[0].released == static_cast<std::uint64_t>(samples));
    CHECK(results[1].released == static_cast<std::uint64_t>(sent));

    units[1].from(10us);
    std::array<timebase::calendar_problem, 4> problems;
    CHECK(calendar.admit(problems.data(), 4, ec) > 0);
    CHECK(std::string(timebase::calendar_problem_name(problems[0].kind)) == "overlap");
    CHECK(!calendar.run(waiter(), results, ec));
    CHECK(!ec);
    std::array<timebase::unit_result, 1> too_few;
    CHECK(!calendar.run(waiter(), too_few, ec));
    CHECK(ec == timebase::errc::invalid);
#if TIMEBASE_EXCEPTIONS
    CHECK(calendar.admit(waiter()).size() > 0);
#endif
}

TEST_CASE("settings are held as long as the object lives; refusals have reasons")
{
    std::error_code ec;
    {
        timebase::realtime_request request{};
        request.wanted = TIMEBASE_REALTIME_TIMER_SLACK | TIMEBASE_REALTIME_AFFINITY;
        request.cpu = -1;
        const timebase::realtime rt(request, ec);
        CHECK(!ec);
        for (unsigned bit : timebase::realtime::bits)
            if ((request.wanted & bit) != 0)
                CHECK(rt.granted(bit) == !rt.refused(bit));
            else
                CHECK(!rt.granted(bit));
    }
    timebase::realtime_request wrong{};
    wrong.wanted = 1u << 30;
    const timebase::realtime none(wrong, ec);
    CHECK(ec == timebase::errc::invalid);
#if TIMEBASE_EXCEPTIONS
    CHECK_THROWS_AS(timebase::realtime{wrong}, timebase::error);
#endif
}

TEST_CASE("a timeline without boots knows no tick")
{
    const stand::folder folder;
    std::error_code ec;
    timebase::timeline past(folder.path(), ec);
    REQUIRE(!ec);
    CHECK((past.boots(ec).empty() && !ec));
    CHECK((past.gaps(ec).empty() && !ec));
    CHECK((past.damages(ec).empty() && !ec));
    (void)past.at(1, ec);
    CHECK(ec == timebase::errc::no_boot);
    (void)past.ticks_at_utc(1, ec);
    CHECK(ec == timebase::errc::no_boot);
    const std::uint64_t ticks[] = {1, 2, 3};
    timebase::instant out[3];
    std::int32_t results[3];
    CHECK(past.at_many(ticks, 3, out, results, ec) == 0);
    CHECK(results[2] == TIMEBASE_E_NO_BOOT);
    timebase::timeline moved = std::move(past);
    CHECK(moved);
    past.set_drawing_on(true); // NOLINT: one that was moved from is empty, not dangling
    (void)past.at(1, ec);
    CHECK(ec == timebase::errc::invalid);
    CHECK((past.boots(ec).empty() && ec == timebase::errc::invalid));
    timebase::timeline nowhere(folder / "none", ec);
    CHECK(ec == timebase::errc::not_found);
    CHECK(!nowhere);
#if TIMEBASE_EXCEPTIONS
    CHECK_THROWS_AS(timebase::timeline(folder / "none"), timebase::error);
    CHECK_THROWS_AS((void)moved.at(1), timebase::error);
    CHECK(moved.boots().empty());
    CHECK_THROWS_AS((void)past.gaps(), timebase::error); // NOLINT: as above
#endif
}
