// SPDX-License-Identifier: MIT
// Files that are no page, or not to be trusted: an error_code and an exception each, and nothing
// undefined afterwards.
#include <fstream>
#include <sstream>

#include "stand.hpp"

namespace
{

std::error_code by_name(const std::string &name)
{
    const std::pair<const char *, timebase::errc> errors[] = {
        {"TIMEBASE_E_NOT_FOUND", timebase::errc::not_found},
        {"TIMEBASE_E_UNTRUSTED", timebase::errc::untrusted},
        {"TIMEBASE_E_FORMAT", timebase::errc::format},
        {"TIMEBASE_E_UNSUPPORTED", timebase::errc::unsupported},
        {"TIMEBASE_E_STALE", timebase::errc::stale}};
    for (const auto &[known, error] : errors)
        if (name == known)
            return error;
    REQUIRE(name == "OK");
    return {};
}

void check_refused(const std::string &path, std::error_code why)
{
    std::error_code ec;
    const timebase::attached_clock none = timebase::attach(path, ec);
    CHECK(ec == why);
    CHECK(!none);
    // What was not attached is the process' own clock.
    CHECK(none.c() == timebase::clock().c());
    CHECK(none.utc_ns() > 0);
#if TIMEBASE_EXCEPTIONS
    try {
        (void)timebase::attach(path);
        FAIL("attached to ", path);
    } catch (const timebase::error &thrown) {
        CHECK(thrown.code() == why);
        CHECK(std::string(thrown.what()).find(path.c_str()) != std::string::npos);
    }
#endif
}

void check_attached(const std::string &path, const std::string &status)
{
    std::error_code ec;
    const timebase::attached_clock clock = timebase::attach(path, ec);
    REQUIRE(!ec);
    CHECK(clock);
    const timebase::instant now = clock.now();
    CHECK(std::string(timebase::name(now.status())) == status);
    CHECK(clock.utc_interval().status == now.status());
    const auto is = clock.attachment(ec).how();
    CHECK(!ec);
    CHECK((is == timebase::attachment_state::current) == (status == "SYNCHRONIZED"));
    CHECK((is == timebase::attachment_state::expired) == (status == "UNKNOWN"));
}

} // namespace

TEST_CASE("each file is taken or refused as the table says")
{
    const stand::folder folder;
    REQUIRE(stand::program({stand::variable("TIMEBASE_PAGES"), folder.path()}).wait() == 0);
    std::ifstream table(folder / "expected");
    std::string name, error, status;
    int files = 0;
    while (table >> name >> error >> status) {
        CAPTURE(name);
        const std::error_code why = by_name(error);
        if (why)
            check_refused(folder / name, why);
        else
            check_attached(folder / name, status);
        files++;
    }
    CHECK(files >= 15);
}

TEST_CASE("a refusal says what is wrong with the page")
{
    const stand::folder folder;
    REQUIRE(stand::program({stand::variable("TIMEBASE_PAGES"), folder.path()}).wait() == 0);
    const std::pair<const char *, const char *> refusals[] = {
        {"empty", "it has 0 bytes, and a page has 640"},
        {"truncated", "it was cut short: 100 of 640 bytes"},
        {"text", "it is something else"},
        {"version-1", "it is of version 1, and this program reads 2"},
        {"hostile", "its lines cannot be"},
        {"endless", "its lines cannot be"},
        {"feature", "it needs features"},
        {"other-counter", "it is over the counter "},
        {"no-lines", "it has no lines yet"},
        {"not-begun", "its lines have not begun"},
        {"other-time", "its time is not the system clock's"}};
    std::error_code ec;
    for (const auto &refusal : refusals) {
        const auto [name, words] = refusal;
        CAPTURE(refusal.first);
        (void)timebase::attach(folder / name, ec);
        CHECK(timebase::explain(folder / name, ec).find(words) == 0);
#if TIMEBASE_EXCEPTIONS
        CHECK_THROWS_WITH_AS((void)timebase::attach(folder / name),
                             doctest::Contains(words), timebase::error);
#endif
    }
    (void)timebase::attach(folder / "missing", ec);
    CHECK(timebase::explain(folder / "missing", ec).empty());
    CHECK(timebase::explain(folder / "missing", timebase::errc::format).empty());
}

TEST_CASE("paths that are none")
{
    check_refused("", timebase::errc::invalid);
    check_refused(std::string(100000, 'a'), timebase::errc::invalid);
    check_refused(std::string("/tmp\0/page", 10), timebase::errc::invalid);
    check_refused("/tmp", timebase::errc::untrusted);
}

TEST_CASE("an attachment can be moved, assigned and given back, and is never dangling")
{
    const stand::folder folder;
    REQUIRE(stand::program({stand::variable("TIMEBASE_PAGES"), folder.path()}).wait() == 0);
    std::error_code ec;
    timebase::attached_clock first = timebase::attach(folder / "good", ec);
    REQUIRE(!ec);
    const timebase_clock *handle = first.c();
    timebase::attached_clock second = std::move(first);
    CHECK(second.c() == handle);
    CHECK(first.c() == timebase::clock().c()); // NOLINT: that is what is tested
    CHECK(!first);
    timebase::attached_clock third;
    third = std::move(second);
    CHECK(third.c() == handle);
    third = timebase::attach(folder / "good", ec);
    CHECK(!ec);
    third.detach();
    third.detach();
    CHECK(!third);
    CHECK(third.mono_ns() > 0);
    static_assert(!std::is_copy_constructible_v<timebase::attached_clock>);
    static_assert(std::is_nothrow_move_constructible_v<timebase::attached_clock>);
}

TEST_CASE("a page whose file is gone or cut off is read on")
{
    const stand::folder folder;
    REQUIRE(stand::program({stand::variable("TIMEBASE_PAGES"), folder.path()}).wait() == 0);
    std::error_code ec;
    const timebase::attached_clock clock = timebase::attach(folder / "good", ec);
    REQUIRE(!ec);
    REQUIRE(truncate((folder / "good").c_str(), 100) == 0);
    const std::int64_t before = clock.mono_ns();
    REQUIRE(unlink((folder / "good").c_str()) == 0);
    (void)clock.attachment(ec);
    CHECK(!ec);
    CHECK(clock.mono_ns() >= before);
}
