#include "tests/catch.hpp"
#include "tools/iteration_picture.hpp"

#include <algorithm>
#include <sstream>

using namespace tools;
using namespace std::chrono_literals;
using generator::Collective;

namespace {

/// 30 ms forward, 60 ms backward, 10 ms optimizer; two buckets.
IterationView hundred_milliseconds() {
    IterationView view;
    view.compute = 100ms;
    view.phases = {{Phase::Kind::forward, 0ms, 30ms},
                   {Phase::Kind::backward, 30ms, 90ms},
                   {Phase::Kind::optimizer, 90ms, 100ms}};
    view.buckets = {{0, Collective::all_reduce, "all", 1'000'000, 2, 50ms, 90ms},
                    {1, Collective::all_reduce, "all", 2'000'000, 3, 90ms, 90ms}};
    return view;
}

IterationView with_buckets(std::uint32_t count) {
    IterationView view = hundred_milliseconds();
    view.buckets.clear();
    for (std::uint32_t i = 0; i < count; ++i)
        view.buckets.push_back(
            {i, Collective::all_reduce, "all", 1000, 1, 30ms + i * 60'000us / count, 90ms});
    return view;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    return lines;
}

/// Characters, not bytes, of UTF-8.
std::size_t columns(const std::string& line) {
    return static_cast<std::size_t>(
        std::ranges::count_if(line, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

} // namespace

TEST_CASE("an iteration is drawn to scale", "[picture]") {
    // Left of the strip: "# " + "collective " + "1 MB " or "size " + "ready " + "needed " = 31 columns. What
    // remains of 71 is 40 columns: 2.5 ms each.
    const std::string text = draw(hundred_milliseconds(), {.width = 71, .ascii = true});
    CHECK(text == "                            ms |0      |20     |40     |60     |80\n"
                  "# collective size ready needed ffffffffffffbbbbbbbbbbbbbbbbbbbbbbbboooo\n"
                  "0 all_reduce 1 MB    50     90                     *---------------|\n"
                  "1 all_reduce 2 MB    90     90                                     *\n"
                  "\n"
                  "f forward 30 ms, b backward 60 ms, o optimizer 10 ms\n"
                  "* ready to be sent, | computing waits here until it is complete\n");
}

TEST_CASE("no line is wider than asked for", "[picture]") {
    for (const std::uint32_t count : {0u, 1u, 24u, 25u, 161u, 291u, 1000u})
        for (const std::size_t width : {least_picture_width, std::size_t{80}, std::size_t{200}})
            for (const std::string& line : lines_of(draw(with_buckets(count), {.width = width}))) {
                INFO(count << " buckets, " << width << " columns: " << line);
                CHECK(columns(line) <= std::max<std::size_t>(width, 70)); // the legend has its own length
            }
}

TEST_CASE("many buckets share lines, and none is lost", "[picture]") {
    for (const std::uint32_t count : {25u, 161u, 291u}) {
        const IterationView view = with_buckets(count);
        const std::vector<BucketLine> lines = bucket_lines(view, 24);
        CHECK(lines.size() <= 24 + 1); // one class
        CHECK(lines.size() >= 12);
        std::vector<BucketView> all;
        for (const BucketLine& line : lines)
            all.insert(all.end(), line.buckets.begin(), line.buckets.end());
        CHECK(all == view.buckets);
    }
    CHECK(bucket_lines(with_buckets(161), 161).size() == 161);
}

TEST_CASE("what shares a line is of one kind", "[picture]") {
    // As FSDP does it: gathers and scatters take turns.
    IterationView view = with_buckets(100);
    for (BucketView& bucket : view.buckets)
        bucket.collective = bucket.number % 2 == 0 ? Collective::all_gather : Collective::reduce_scatter;
    for (const BucketLine& line : bucket_lines(view, 10))
        for (const BucketView& bucket : line.buckets)
            CHECK(bucket.collective == line.buckets.front().collective);
}

TEST_CASE("groups are named when there are several", "[picture]") {
    IterationView view = hundred_milliseconds();
    CHECK(draw(view, {}).find("group") == std::string::npos);
    view.buckets[1].group = "tensor";
    const std::string text = draw(view, {});
    CHECK(text.find("collective group") != std::string::npos);
    CHECK(text.find("all_reduce tensor") != std::string::npos);
}

TEST_CASE("an iteration without computing or buckets can be drawn", "[picture]") {
    IterationView view;
    CHECK(draw(view, {}).find("no computing") != std::string::npos);
    view.buckets = {{0, Collective::all_reduce, "all", 8, 0, 0ns, 0ns}};
    CHECK(draw(view, {.ascii = true}).find("0 all_reduce  8 B     0      0 *") != std::string::npos);
}

TEST_CASE("a view has the phases and buckets of the profile", "[picture]") {
    const std::string text = R"({"compute": {"forward_ms": 30, "backward_ms": 60, "optimizer_ms": 10},
        "gradients": {"bucketing": "explicit", "buckets": [{"bytes": 4000, "ready_after": "95ms"}]},
        "scale": {"reference_rate": "10Gbit", "time": 2}, "network": {"line_rate": "1Gbit"}})";
    const IterationView view = view_iteration(generator::parse_profile({"p.json", text, ""}), 0, 1);
    // The optimizer needs the bucket of 95 ms: it runs from there to 105 ms. Everything takes twice as long.
    CHECK(view.compute == 210ms);
    CHECK(view.phases == std::vector<Phase>{{Phase::Kind::forward, 0ms, 60ms},
                                            {Phase::Kind::backward, 60ms, 180ms},
                                            {Phase::Kind::optimizer, 190ms, 210ms}});
    REQUIRE(view.buckets.size() == 1);
    CHECK(view.bytes() == 400); // a tenth of the reference rate
    CHECK(view.buckets[0].ready_after == 190ms);
    CHECK(view.buckets[0].needed_at == 190ms);
    CHECK(view.buckets[0].group == "all");
}
