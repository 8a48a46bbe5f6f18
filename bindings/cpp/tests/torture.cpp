// SPDX-License-Identifier: MIT
// Readings while a writer in C publishes as fast as it can. bindings/conformance/law.h says what
// each publication says, so that each reading shows whether it is whole.
#include <algorithm>
#include <cstdint>

#include "stand.hpp"

#define PUBLICATIONS 1000
#define READS_OF_A_WRITER 20000000 // it lives for 300 s: a machine may be too slow for all of them

namespace
{

struct found {
    std::uint64_t now = 0, at = 0, none = 0, torn = 0, backwards = 0;
    std::uint64_t newest = 0;
    std::int64_t latest_ns = 0; // of now

    /* Of either kind, but no more than four times those of the rarer one. */
    std::uint64_t readings() const
    {
        return std::min(now + at, 4 * std::min(now, at));
    }
    void add(const found &other)
    {
        now += other.now;
        at += other.at;
        none += other.none;
        torn += other.torn;
        backwards += other.backwards;
        newest = std::max(newest, other.newest);
    }
};

std::uint64_t grains(std::uint64_t d, std::uint64_t rate)
{
    return (d * (rate % 1024)) >> 24;
}

bool is_whole(const timebase::instant &seen, std::uint64_t n, std::uint64_t d)
{
    const std::uint64_t bend = d * (n % 128 + 1);
    const std::uint64_t ns = n % 2 ? d + (bend >> 24) : d - ((bend + (1 << 24) - 1) >> 24);
    const std::uint64_t base = 1 << 20;
    return static_cast<std::uint64_t>(seen.mono_ns) == (n << 28) + ns &&
        seen.maxerror_ns == base + 3 * n + grains(d, n) + grains(d, n + 512) &&
        seen.utc_maxerror_ns == (std::uint64_t(1) << 32) + 7 * n + grains(d, n) &&
        seen.esterror_ns == base + 5 * n + grains(d, n + 256) &&
        seen.flags ==
        (static_cast<std::uint32_t>(n) << 16 | TIMEBASE_LINE_TAI_VALID |
         TIMEBASE_STATUS_SYNCHRONIZED);
}

void judge(found &all, const timebase::instant &seen, std::uint64_t t0, bool is_now)
{
    const auto n = static_cast<std::uint64_t>(seen.utc_ns - seen.mono_ns);
    if (!is_whole(seen, n, seen.ticks - t0)) {
        all.torn++;
        return;
    }
    all.backwards += n < all.newest || (is_now && seen.mono_ns < all.latest_ns);
    all.newest = n;
    if (is_now)
        all.latest_ns = seen.mono_ns;
}

bool is_too_little(const found &all, std::uint64_t reads)
{
    return all.torn == 0 && (all.newest < PUBLICATIONS || all.readings() < reads);
}

// So many readings, or those of the writer's life.
found torture(const std::vector<std::string> &writer, std::uint64_t reads)
{
    const stand::folder folder;
    std::vector<std::string> command = writer;
    command.push_back(folder / "page");
    command.push_back("300");
    stand::program at_work(command);
    REQUIRE(at_work.line() == "publishing\n");
    const stand::mapped memory(folder / "page");
    const timebase::page_view page(memory.page());
    const std::uint64_t t0 = memory.page().disruption_marker;
    found all;
    // On one CPU the writer has its turns: it is to have had some, however few the readings. On two
    // it is so busy that many readings of now are given up: these do not count.
    for (std::uint64_t i = 0; is_too_little(all, reads); i++) {
        if (i % 4096 == 4095 && at_work.has_ended())
            break;
        const bool is_now = i % 2 == 0;
        const auto seen = is_now ? page.now() : page.at(t0 + (i * 0x9e3779b97f4a7c15 >> 22));
        (!seen ? all.none : is_now ? all.now : all.at)++;
        if (!seen)
            continue; // a publication fell into it
        judge(all, *seen, t0, is_now);
    }
    return all;
}

std::uint64_t usual_reads()
{
    const char *wanted = std::getenv("TIMEBASE_TEST_READS");
    return wanted != nullptr ? std::stoull(wanted) : 5000000;
}

} // namespace

TEST_CASE("no reading is of two publications, and none goes back")
{
    found all;
    for (std::uint64_t left = usual_reads(); left > 0;) {
        const std::uint64_t wanted = std::min<std::uint64_t>(left, READS_OF_A_WRITER);
        const found some = torture({stand::variable("TIMEBASE_WRITER")}, wanted);
        REQUIRE(some.readings() > 0);
        left -= std::min(left, some.readings());
        all.add(some);
    }
    const std::uint64_t read = all.now + all.at;
    MESSAGE(read, " readings, ", all.none, " without a line, ", all.torn, " torn, ",
            all.backwards, " backwards");
    CHECK(all.torn == 0);
    CHECK(all.backwards == 0);
    CHECK(read >= usual_reads());
    CHECK(all.newest >= PUBLICATIONS);
}

TEST_CASE("a writer without the protocol is found out")
{
    const found all = torture({stand::variable("TIMEBASE_WRITER"), "--broken"}, READS_OF_A_WRITER);
    CHECK(all.torn > 0);
}
