// SPDX-License-Identifier: MIT
// Every vector of this machine's byte order: spec/vectors.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <vector>

#include <nlohmann/json.hpp>

#include "stand.hpp"

using nlohmann::json;

namespace
{

const char *const own_endian = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "little" : "big";

std::vector<json> all_vectors()
{
    std::vector<json> found;
    for (const auto &file :
         std::filesystem::directory_iterator(stand::variable("TIMEBASE_VECTORS"))) {
        if (file.path().filename() == "timeline.json")
            continue; // files of another kind: tests/conformance/timeline.c
        std::ifstream stream(file.path());
        const json all = json::parse(stream);
        for (const json &vector : all.at("vectors"))
            if (vector.at("endian") == own_endian)
                found.push_back(vector);
    }
    return found;
}

std::uint64_t word(const json &number)
{
    const auto &text = number.get_ref<const std::string &>();
    return text[0] == '-' ? static_cast<std::uint64_t>(std::stoll(text)) : std::stoull(text);
}

// A shorter page, of another version, lies in a file of its size: the rest is zero.
void load(timebase_page &page, const json &vector)
{
    const auto &hex = vector.at("page_hex").get_ref<const std::string &>();
    unsigned char bytes[sizeof page] = {};
    for (std::size_t i = 0; i < std::min(hex.size() / 2, sizeof bytes); i++)
        bytes[i] = static_cast<unsigned char>(std::stoul(hex.substr(2 * i, 2), nullptr, 16));
    std::memcpy(&page, bytes, sizeof page);
}

int error_of(const json &valid)
{
    static const std::map<std::string, int> errors = {
        {"TIMEBASE_E_FORMAT", TIMEBASE_E_FORMAT},
        {"TIMEBASE_E_UNSUPPORTED", TIMEBASE_E_UNSUPPORTED},
        {"TIMEBASE_E_STALE", TIMEBASE_E_STALE},
        {"TIMEBASE_E_TORN", TIMEBASE_E_TORN}};
    return valid.is_number() ? valid.get<int>() : errors.at(valid.get<std::string>());
}

void check_instant(const timebase::instant &got, const json &read)
{
    CHECK(got.ticks == word(read.at("ticks")));
    CHECK(static_cast<std::uint64_t>(got.mono_ns) == word(read.at("mono_ns")));
    CHECK(static_cast<std::uint64_t>(got.utc_ns) == word(read.at("utc_ns")));
    CHECK(static_cast<std::uint64_t>(got.tai_ns()) == word(read.at("tai_ns")));
    CHECK(got.maxerror_ns == word(read.at("maxerror_ns")));
    CHECK(got.utc_maxerror_ns == word(read.at("utc_maxerror_ns")));
    CHECK(got.esterror_ns == word(read.at("esterror_ns")));
    CHECK(got.flags == read.at("flags").get<std::uint32_t>());
    CHECK(static_cast<int>(got.status()) == static_cast<int>(got.flags & 15));
}

// A reading of now at that tick: the inline parts that timebase_page_read() is made of.
void check_now(const timebase_page &page, const json &read)
{
    const timebase_lines &lines = page.copy[page.seq & 1];
    std::uint64_t d = 0;
    const timebase_line *line =
        timebase_page_line_now(&lines, word(read.at("ticks")), page.refresh_ticks, &d);
    CHECK((line != nullptr) == read.at("is_current").get<bool>());
    if (line == nullptr)
        return;
    const std::string name = line == &lines.after ? "after"
        : line == &lines.slew                     ? "slew"
                                                  : "before";
    CHECK(name == read.at("line").get<std::string>());
    timebase::instant got;
    got.ticks = word(read.at("ticks"));
    timebase_line_convert(line, d, TIMEBASE_WANT_ALL, &got);
    got.esterror_ns = timebase_lines_esterror(&lines, line, d);
    check_instant(got, read);
}

void check_inverse(const timebase::page_view &page, const json &target)
{
    const bool is_utc = target.contains("utc_ns");
    const auto ns = static_cast<std::int64_t>(word(target.at(is_utc ? "utc_ns" : "mono_ns")));
    const auto found = is_utc ? page.ticks_at_utc(ns) : page.ticks_at_mono(ns);
    REQUIRE(found.has_value());
    CHECK(*found == word(target.at("ticks")));
}

} // namespace

TEST_CASE("every vector says here what it says in the specification")
{
    timebase_page page;
    std::size_t reads = 0, refused = 0, targets = 0;
    for (const json &vector : all_vectors()) {
        CAPTURE(vector.at("name").get<std::string>());
        load(page, vector);
        const timebase::page_view view(page);
        const int valid = error_of(vector.at("valid"));
        CHECK(view.validate() == timebase::error_code_of(valid));
        refused += valid != 0;
        for (const json &read : vector.at("reads")) {
            const auto then = view.at(word(read.at("ticks")));
            REQUIRE(then.has_value());
            check_instant(*then, read);
            check_now(page, read);
            reads++;
        }
        for (const json &target : vector.at("inverse")) {
            check_inverse(view, target);
            targets++;
        }
    }
    MESSAGE(reads, " ticks, ", targets, " times, ", refused, " pages refused");
    CHECK(reads > 100);
    CHECK(targets > 10);
    CHECK(refused > 10);
}

TEST_CASE("whatever a page holds, each question ends")
{
    timebase_page page;
    for (const json &vector : all_vectors()) {
        load(page, vector);
        const timebase::page_view view(page);
        for (std::uint64_t ticks : {std::uint64_t(0), std::uint64_t(1) << 63, ~std::uint64_t(0)}) {
            (void)view.at(ticks);
            (void)view.now();
            (void)view.ticks_at_mono(static_cast<std::int64_t>(ticks));
            (void)view.ticks_at_utc(static_cast<std::int64_t>(ticks));
        }
    }
}

TEST_CASE("without lines there is no time in either direction")
{
    timebase_page page;
    load(page, all_vectors().front());
    page.seq = 0;
    const timebase::page_view view(page);
    CHECK(!view.now().has_value());
    CHECK(!view.at(1).has_value());
    CHECK(!view.ticks_at_mono(1).has_value());
    CHECK(!view.ticks_at_utc(1).has_value());
}
