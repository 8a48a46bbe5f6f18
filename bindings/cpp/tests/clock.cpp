// SPDX-License-Identifier: MIT
// Clocks as <chrono> knows them, intervals and errors.
#include <limits>
#include <set>
#include <thread>

#include "stand.hpp"

using namespace std::chrono_literals;

template <class Clock> constexpr bool is_trivial_clock()
{
    static_assert(std::is_same_v<typename Clock::time_point,
                                 std::chrono::time_point<Clock, typename Clock::duration>>);
    static_assert(std::is_same_v<typename Clock::rep, std::int64_t>);
    static_assert(std::is_same_v<typename Clock::period, std::nano>);
    static_assert(noexcept(Clock::now()));
#if __cplusplus >= 202002L
    static_assert(std::chrono::is_clock_v<Clock>);
#endif
    return true;
}
static_assert(is_trivial_clock<timebase::utc_clock>());
static_assert(is_trivial_clock<timebase::tai_clock>());
static_assert(is_trivial_clock<timebase::steady_clock>());
static_assert(timebase::steady_clock::is_steady);
static_assert(!timebase::utc_clock::is_steady && !timebase::tai_clock::is_steady);
static_assert(std::is_trivially_copyable_v<timebase::clock>);
static_assert(sizeof(timebase::clock) == sizeof(void *));

TEST_CASE("the clocks are those of C, and go forward")
{
    const timebase_clock *c = timebase_clock_default();
    const std::int64_t first = timebase_mono_ns(c);
    const auto second = timebase::steady_clock::now();
    const std::int64_t third = timebase_mono_ns(c);
    CHECK(first <= second.time_since_epoch().count());
    CHECK(second.time_since_epoch().count() <= third);
    CHECK(timebase::steady_clock::now() - second >= 0ns);
    CHECK(timebase::clock().mono_time() >= second);
}

struct looks {
    timebase::instant now, again;
    std::int64_t again_ns, then_ns;
    std::uint64_t tick, tick_of_chrono;
};

static looks look_at(timebase::clock clock)
{
    looks seen{};
    seen.now = clock.now();
    seen.again = clock.at(seen.now.ticks);
    seen.again_ns = clock.mono_at_ns(seen.now.ticks);
    seen.tick = clock.ticks_at_mono(seen.now.mono_ns);
    seen.then_ns = clock.mono_at_ns(seen.tick);
    seen.tick_of_chrono =
        clock.ticks_at(timebase::mono_time(std::chrono::nanoseconds(seen.now.mono_ns)));
    return seen;
}

// Between two publications: a tick of older lines is drawn back by newer ones, and a clock that has
// no lines yet gives the kernel's time.
static looks look_by_the_same_lines(timebase::clock clock)
{
    std::error_code ec;
    for (int i = 0; i < 10000; i++) {
        const std::uint64_t before = clock.statistics(ec).publications;
        const looks seen = look_at(clock);
        if (before > 0 && clock.statistics(ec).publications == before)
            return seen;
        std::this_thread::sleep_for(1ms);
    }
    FAIL("new lines between any two looks");
    return {};
}

TEST_CASE("an instant is of one tick, and converts as C does")
{
    const looks seen = look_by_the_same_lines(timebase::clock());
    const timebase::instant now = seen.now;
    CHECK(seen.again_ns == now.mono_ns);
    CHECK(seen.again.mono_ns == now.mono_ns);
    CHECK(now.tai_ns() - now.utc_ns == now.tai_offset().value_or(0s).count() * 1000000000);
    CHECK(seen.then_ns >= now.mono_ns);
    CHECK(seen.tick <= now.ticks);
    CHECK(seen.tick_of_chrono == seen.tick);
}

TEST_CASE("flags have names")
{
    timebase::instant made{};
    made.flags = TIMEBASE_STATUS_FREERUNNING | TIMEBASE_LINE_ESTIMATE;
    CHECK(made.status() == timebase::status::freerunning);
    CHECK(made.is_estimate());
    CHECK(!made.is_never_moved());
    CHECK(!made.is_counter_distrusted());
    CHECK(!made.tai_offset());
    made.flags = TIMEBASE_LINE_NEVER_MOVED;
    CHECK(made.is_never_moved());
    CHECK(!made.is_estimate());
    made.flags = TIMEBASE_LINE_COUNTER_DISTRUSTED;
    CHECK(made.is_counter_distrusted());
    made.flags = 0xffdbu << 16 | TIMEBASE_LINE_TAI_VALID | TIMEBASE_LINE_LEAP_DELETE;
    CHECK(made.tai_offset() == -37s);
    CHECK(made.tai_ns() == -37000000000);
    CHECK(made.leap() == -1s);
    made.flags = TIMEBASE_LINE_LEAP_INSERT;
    CHECK(made.leap() == 1s);
}

TEST_CASE("UTC is the system clock's time, and converts to it and back")
{
    const auto sys = std::chrono::time_point<std::chrono::system_clock, std::chrono::nanoseconds>(
        1234567890123456789ns);
    const auto utc = timebase::utc_clock::from_sys(sys);
    CHECK(utc.time_since_epoch() == sys.time_since_epoch());
    CHECK(timebase::utc_clock::to_sys(utc) == sys);
}

#if defined(__cpp_lib_chrono) && __cpp_lib_chrono >= 201907L
TEST_CASE("clock_cast knows the way between our clocks and those of the standard")
{
    const std::chrono::sys_time<std::chrono::nanoseconds> sys(1234567890123456789ns);
    const timebase::utc_time utc(1234567890123456789ns);
    CHECK(std::chrono::clock_cast<std::chrono::system_clock>(utc) == sys);
    CHECK(std::chrono::clock_cast<timebase::utc_clock>(sys) == utc);
    CHECK(std::chrono::clock_cast<timebase::utc_clock>(utc) == utc);

    // 2017-01-01 00:00:00 UTC is 00:00:37 TAI, and 27 leap seconds have been since 1972.
    const timebase::tai_time tai(1483228837s);
    const timebase::utc_time there(1483228800s);
    const std::chrono::sys_time<std::chrono::seconds> day(1483228800s);
    const std::chrono::utc_time<std::chrono::seconds> counted(1483228827s);
    CHECK(std::chrono::clock_cast<std::chrono::system_clock>(tai) == day);
    CHECK(std::chrono::clock_cast<timebase::tai_clock>(day) == tai);
    CHECK(std::chrono::clock_cast<timebase::utc_clock>(tai) == there);
    CHECK(std::chrono::clock_cast<timebase::tai_clock>(there) == tai);
    CHECK(std::chrono::clock_cast<std::chrono::utc_clock>(there) == counted);
    CHECK(std::chrono::clock_cast<timebase::utc_clock>(counted) == there);
    CHECK(std::chrono::clock_cast<std::chrono::utc_clock>(tai) == counted);
    CHECK(std::chrono::clock_cast<timebase::tai_clock>(counted) == tai);

    // In a leap second TAI goes on, and UTC shows the last second twice.
    const timebase::tai_time leap = tai - 500ms;
    CHECK(std::chrono::clock_cast<std::chrono::utc_clock>(leap) == counted - 500ms);
    CHECK(std::chrono::clock_cast<timebase::utc_clock>(leap) < there);
    CHECK(std::chrono::clock_cast<timebase::utc_clock>(leap) >= there - 1s);

    static_assert(std::is_same_v<decltype(std::chrono::clock_cast<timebase::tai_clock>(there)),
                                 timebase::tai_time>);
    static_assert(std::is_same_v<decltype(std::chrono::clock_cast<timebase::utc_clock>(tai)),
                                 timebase::utc_time>);
}
#elif __cplusplus >= 202002L
#error "clock_cast is tried with every C++20: see chrono20.hpp"
#endif

TEST_CASE("UTC lies in its interval, and CLOCK_REALTIME in its own, if their statuses say so")
{
    const timebase::clock clock;
    const timebase::interval utc = clock.utc_interval();
    CHECK(utc.earliest_ns <= utc.latest_ns);
    CHECK(utc.width_ns() > 0);
    CHECK(utc.contains(utc.earliest()));
    const timebase::interval realtime = clock.realtime_interval();
    CHECK(!realtime.is_empty());
}

TEST_CASE("intervals are before one another, or overlap, or one is empty")
{
    const timebase::interval a(1, 5), b(6, 9), c(5, 6), empty(2, 1);
    CHECK(a.before(b));
    CHECK(!b.before(a));
    CHECK(!a.before(c));
    CHECK(a.overlaps(c));
    CHECK(c.overlaps(b));
    CHECK(!a.overlaps(b));
    CHECK(empty.is_empty());
    CHECK(!empty.before(b));
    CHECK(!empty.overlaps(a));
    CHECK(!a.before(empty));
    CHECK(!empty.contains(1));
    CHECK(a.contains(1));
    CHECK(a.contains(5));
    CHECK(!a.contains(6));
    REQUIRE(a.intersect(c));
    CHECK(a.intersect(c)->earliest_ns == 5);
    CHECK(a.intersect(c)->latest_ns == 5);
    CHECK(!a.intersect(b));
    constexpr auto least = std::numeric_limits<std::int64_t>::min();
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    CHECK(timebase::interval(least, most).width_ns() == std::numeric_limits<std::uint64_t>::max());
    CHECK(timebase::interval::around(most - 1, 5).latest_ns == most);
    CHECK(timebase::interval::around(least + 1, 5).earliest_ns == least);
}

TEST_CASE("errors are error_codes with the library's sentences")
{
    const std::error_code torn = timebase::errc::torn;
    CHECK(std::string(torn.category().name()) == "timebase");
    CHECK(torn.message() == timebase_strerror(TIMEBASE_E_TORN));
    CHECK(torn != std::error_code(TIMEBASE_E_TORN, std::generic_category()));
    CHECK(timebase::make_error_code(timebase::errc::timeout) == std::errc::timed_out);
    CHECK(timebase::make_error_code(timebase::errc::not_found) ==
          std::errc::no_such_file_or_directory);
    CHECK(timebase::make_error_code(timebase::errc::untrusted) == std::errc::permission_denied);
    CHECK(!timebase::error_code_of(0));
    CHECK(!timebase::error_code_of(1));
    // Each has a sentence of its own, so none is missing in the enumeration of C.
    std::set<std::string> sentences;
    for (int error = TIMEBASE_E_ESTIMATE; error < 0; error++)
        sentences.insert(timebase::error_code_of(error).message());
    CHECK(sentences.size() == static_cast<std::size_t>(-TIMEBASE_E_ESTIMATE));
}

TEST_CASE("the own clock has no promise to wait for")
{
    std::error_code ec;
    const timebase::clock clock;
    (void)clock.wait_bound(1, clock.mono_ns(), ec);
    CHECK(ec);
    clock.wait_after(clock.utc_ns(), clock.mono_ns(), ec);
    CHECK(ec);
#if TIMEBASE_EXCEPTIONS
    CHECK_THROWS_AS(clock.wait_after(clock.utc_ns(), clock.mono_ns()), timebase::error);
#endif
}

TEST_CASE("a clock is kept by its reader or by somebody else")
{
    std::error_code ec;
    const timebase::clock clock;
    clock.set_maintenance(timebase::maintenance::manual);
    clock.maintain(ec);
    CHECK((!ec || ec == timebase::errc::busy));
    clock.set_maintenance(timebase::maintenance::automatic);
    const auto statistics = clock.statistics(ec);
    CHECK(!ec);
    CHECK(statistics.samples > 0);
    CHECK(statistics.counter_id == static_cast<int>(timebase::counter_in_use()));
    CHECK(clock.attachment(ec).how() == timebase::attachment_state::none);
}

TEST_CASE("the counter describes itself")
{
    const timebase::counter_description counter = timebase::probe_counter();
    CHECK(counter.frequency_hz > 0);
    CHECK(std::string(counter.name()) == timebase::name(timebase::counter_in_use()));
    unsigned reasons = 0;
    while (counter.reason(reasons) != nullptr)
        reasons++;
    CHECK(reasons < 32);
    const std::uint64_t first = timebase::ticks_ordered();
    CHECK(timebase::ticks_ordered() >= first);
    std::error_code ec;
    timebase::select_counter(static_cast<timebase::counter_id>(77), ec);
    CHECK(ec == timebase::errc::unsupported);
}
