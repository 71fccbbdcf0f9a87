#include "collectors/trace_file.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include <unistd.h>

#include "catch.hpp"
#include "temporary_folder.hpp"
#include "text.hpp"

using namespace collectors;
using namespace std::chrono_literals;
namespace fs = std::filesystem;
using tests::contains;
using tests::message_of;
using tests::TemporaryFolder;
using tests::text_of;
using tests::write_text;

namespace {

const std::string header = "t_ns,rx_width_ns,tx_width_ns,rx_bytes,tx_bytes,flags\n";

Trace example() {
    Trace trace;
    trace.info.host = "node-a";
    trace.info.interface = "eth0";
    trace.info.source = "sysfs";
    trace.info.byte_unit = "device (without FCS)";
    trace.info.interval = 500us;
    trace.info.start_monotonic_ns = 123'456'789'012'345;
    trace.info.start_realtime_ns = 1'700'000'000'123'456'789;
    trace.info.missed = 3;
    trace.info.failed = 1;
    trace.info.complete = true;
    trace.info.reason = "duration";
    trace.info.driver = "mlx5_core";
    trace.info.version = "0.1.0";
    trace.info.build_type = "Release";
    trace.samples = {{100, 1800, 1700, 0, 18'446'744'073'709'551'615ULL, 0},
                     {500'100, 4'294'967'295U, 1700, 1500, 5, missed_ticks | new_segment}};
    return trace;
}

} // namespace

TEST_CASE("a trace reads back as it was written", "[trace]") {
    const TemporaryFolder folder;
    const Trace written = example();
    write_trace(folder / "trace.csv", written);
    const Trace read = read_trace(folder / "trace.csv");
    CHECK(read.samples == written.samples);
    CHECK(read.info == written.info);
}

TEST_CASE("the CSV is a header and plain numbers, without comment lines", "[trace]") {
    const TemporaryFolder folder;
    write_trace(folder / "trace.csv", example());
    CHECK(text_of(folder / "trace.csv") == header + "100,1800,1700,0,18446744073709551615,0\n"
                                                    "500100,4294967295,1700,1500,5,5\n");
    CHECK(text_of(folder / "trace.json").find("gradburst-trace/1") != std::string::npos);
}

TEST_CASE("more samples than one block read back", "[trace]") {
    const TemporaryFolder folder;
    Trace trace = example();
    trace.samples.clear();
    for (std::int64_t i = 0; i < 20'000; ++i)
        trace.samples.push_back({i * 1'000'000, 1800, 1700, static_cast<std::uint64_t>(i) * 1500, 0, 0});
    write_trace(folder / "trace.csv", trace);
    CHECK(read_trace(folder / "trace.csv").samples == trace.samples);
}

TEST_CASE("while it is recorded, a trace is readable and says that it is incomplete", "[trace]") {
    const TemporaryFolder folder;
    const Trace trace = example();
    TraceWriter writer(folder / "trace.csv");
    writer.begin(trace.info);
    writer.append(trace.samples);
    // As after SIGKILL: nothing was finished.
    const Trace killed = read_trace(folder / "trace.csv");
    CHECK(killed.samples == trace.samples);
    CHECK_FALSE(killed.info.complete);
    CHECK(killed.info.start_monotonic_ns == trace.info.start_monotonic_ns);

    writer.finish({"signal 15", 7, 2});
    const Trace finished = read_trace(folder / "trace.csv");
    CHECK(finished.info.complete);
    CHECK(finished.info.reason == "signal 15");
    CHECK(finished.info.missed == 7);
    CHECK(finished.info.failed == 2);
    CHECK_FALSE(fs::exists(folder / "trace.json.new"));
}

TEST_CASE("the sidecar of a finished trace says how many samples were recorded", "[trace]") {
    const TemporaryFolder folder;
    for (const char* const name : {"trace.csv", "long.bin"}) {
        TraceWriter writer(folder / name, {.max_samples = 1, .rotate = true});
        writer.begin(example().info);
        writer.append(example().samples);
        CHECK_FALSE(read_trace(folder / name).info.samples);
        writer.finish({"duration"});
        CHECK(read_trace(folder / name).info.samples == 2U);
    }
}

TEST_CASE("a cut last line is ignored wherever it was cut", "[trace]") {
    const TemporaryFolder folder;
    const std::string whole = header + "0,10,10,5,6,0\n";
    const std::string last = "1000,10,10,1500,1600,0";
    for (std::size_t length = 0; length <= last.size(); ++length) {
        write_text(folder / "trace.csv", whole + last.substr(0, length));
        CHECK(read_trace(folder / "trace.csv").samples == std::vector<Sample>{{0, 10, 10, 5, 6, 0}});
    }
    write_text(folder / "trace.csv", whole + last + "\n");
    CHECK(read_trace(folder / "trace.csv").samples.size() == 2);
}

TEST_CASE("a malformed line is an error that names file and line", "[trace]") {
    const TemporaryFolder folder;
    const fs::path path = folder / "trace.csv";
    const auto error_for = [&](const std::string& text) {
        write_text(path, text);
        return message_of([&] { read_trace(path); });
    };
    const std::string good = "0,10,10,5,6,0\n";
    for (const std::string bad :
         {"1000,10,10,x,6,0\n", "1000,10,10,5,6\n", "1000,10,10,5,6,0,7\n", "\n", "1000,10,-1,5,6,0\n",
          "1000,10,10,5,18446744073709551616,0\n", "1000, 10,10,5,6,0\n"}) {
        INFO(bad);
        CHECK(error_for(header + good + bad + "2000,10,10,5,6,0\n").find("trace.csv:3: ") !=
              std::string::npos);
    }
    CHECK(error_for(header + good + "15,10,10,5,6,0\n").find(":3: begins before") != std::string::npos);
    CHECK(error_for("time,bytes\n").find(":1: is not a trace") != std::string::npos);
    CHECK(error_for("").find(":1: is not a trace") != std::string::npos);
}

TEST_CASE("a trace without sidecar is readable and says so", "[trace]") {
    const TemporaryFolder folder;
    write_trace(folder / "trace.csv", example());
    fs::remove(folder / "trace.json");
    const Trace trace = read_trace(folder / "trace.csv");
    CHECK(trace.samples == example().samples);
    CHECK_FALSE(trace.info.complete);
    CHECK(trace.info.reason.find("no sidecar") != std::string::npos);
}

TEST_CASE("a broken sidecar is an error that names it", "[trace]") {
    const TemporaryFolder folder;
    write_trace(folder / "trace.csv", example());
    for (const std::string bad : {"{", "{}", "{\"format\": \"gradburst-trace/2\"}", ""}) {
        INFO(bad);
        write_text(folder / "trace.json", bad);
        CHECK(message_of([&] { read_trace(folder / "trace.csv"); }).find("trace.json") != std::string::npos);
        CHECK_FALSE(contains(message_of([&] { read_trace(folder / "trace.csv"); }), "json.exception"));
    }
}

TEST_CASE("an existing trace is not replaced unless asked", "[trace]") {
    const TemporaryFolder folder;
    write_trace(folder / "trace.csv", example());
    CHECK(message_of([&] { TraceWriter(folder / "trace.csv"); }).find("trace.csv: File exists") !=
          std::string::npos);
    CHECK(read_trace(folder / "trace.csv").samples.size() == 2);
    { const TraceWriter replaced(folder / "trace.csv", {.overwrite = true}); }
    CHECK(read_trace(folder / "trace.csv").samples.empty());
    CHECK_FALSE(fs::exists(folder / "trace.json")); // it explained the trace that is gone
}

TEST_CASE("a trace has one writer at a time, whatever file it is at", "[trace]") {
    const TemporaryFolder folder;
    const fs::path path = folder / "trace.csv";
    const std::vector<Sample> samples = example().samples;
    {
        TraceWriter writer(path, {.max_samples = 1, .rotate = true});
        writer.begin(example().info);
        writer.append(samples); // the second is in the next file
        for (const bool overwrite : {false, true})
            CHECK_THROWS_AS(TraceWriter(path, {.overwrite = overwrite}), std::system_error);
        CHECK(message_of([&] {
                  TraceWriter(path, {.overwrite = true});
              }).find("somebody is recording into it") != std::string::npos);
        CHECK(message_of([&] { write_trace(path, example()); }).find("recording") != std::string::npos);
        CHECK(read_trace(path).samples == samples); // untouched, and readable
        CHECK(read_trace(path).info.reason.find("still recording") != std::string::npos);
        writer.finish({"stopped"});
        { const TraceWriter replaced(path, {.overwrite = true}); } // it has ended
    }
    CHECK(read_trace(path).samples.empty());
}

TEST_CASE("an output that cannot be written is named at once", "[trace]") {
    const TemporaryFolder folder;
    CHECK(message_of([&] {
              TraceWriter(folder / "absent/trace.csv");
          }).find("absent/trace.csv: No such file") != std::string::npos);
    CHECK(message_of([&] { TraceWriter(folder / "trace.json"); }).find("sidecar") != std::string::npos);
    CHECK(message_of([&] { read_trace(folder / "none.csv"); }).find("none.csv: No such file") !=
          std::string::npos);
}

TEST_CASE("a full disk is an error that names the file", "[trace]") {
    const std::string message = message_of([] { TraceWriter("/dev/full", {.overwrite = true}); });
    CHECK(message.find("write /dev/full: No space left on device") != std::string::npos);
}

TEST_CASE("a binary trace reads back as it was written, flags and all", "[trace][binary]") {
    const TemporaryFolder folder;
    const Trace written = example();
    write_trace(folder / "trace.bin", written);
    CHECK(fs::file_size(folder / "trace.bin") == 3 * 32); // the second sample has flags: one record more
    const Trace read = read_trace(folder / "trace.bin");
    CHECK(read.samples == written.samples);
    CHECK(read.info == written.info);
    const std::string sidecar = text_of(folder / "trace.json");
    CHECK(sidecar.find("numpy_dtype") != std::string::npos);
    CHECK(sidecar.find("<u4") != std::string::npos);
}

TEST_CASE("a record is little-endian t, widths, bytes", "[trace][binary]") {
    const TemporaryFolder folder;
    Trace trace;
    trace.samples = {{0x0102, 3, 4, 5, 0x0600, 0}};
    write_trace(folder / "trace.bin", trace);
    const std::string bytes = text_of(folder / "trace.bin");
    REQUIRE(bytes.size() == 32);
    CHECK(bytes.substr(0, 8) == std::string("\x02\x01\0\0\0\0\0\0", 8));
    CHECK(bytes.substr(8, 8) == std::string("\x03\0\0\0\x04\0\0\0", 8));
    CHECK(bytes.substr(24, 8) == std::string("\0\x06\0\0\0\0\0\0", 8));
}

TEST_CASE("a binary trace that was cut anywhere holds all whole samples", "[trace][binary]") {
    const TemporaryFolder folder;
    write_trace(folder / "whole.bin", example());
    const std::string whole = text_of(folder / "whole.bin");
    for (std::size_t length = 0; length <= whole.size(); ++length) {
        write_text(folder / "trace.bin", whole.substr(0, length));
        // One record, then the marker with the flags of the second sample, then that sample.
        CHECK(read_trace(folder / "trace.bin").samples.size() == (length < 32 ? 0 : length < 96 ? 1 : 2));
    }
}

TEST_CASE("a sample that no record can hold becomes a gap", "[trace][binary]") {
    const TemporaryFolder folder;
    Trace trace;
    trace.samples = {{0, 4'294'967'295U, 4'294'967'295U, 1, 2, missed_ticks},
                     {10'000'000'000, 5, 5, 3, 4, 0}};
    write_trace(folder / "trace.bin", trace);
    CHECK(read_trace(folder / "trace.bin").samples ==
          std::vector<Sample>{{10'000'000'000, 5, 5, 3, 4, missed_ticks | failed_reads}});
}

TEST_CASE("a trace goes on in further files, and is read as one", "[trace][parts]") {
    for (const std::string extension : {"csv", "bin"}) {
        const TemporaryFolder folder;
        const fs::path path = folder / ("trace." + extension);
        std::vector<Sample> samples;
        for (std::int64_t i = 0; i < 10; ++i)
            samples.push_back({i * 1000, 10, 10, static_cast<std::uint64_t>(i), 0, i == 4 ? 2U : 0U});
        TraceWriter writer(path, {.max_samples = 4, .rotate = true});
        writer.begin(example().info);
        writer.append(std::span(samples).first(5));
        writer.append(std::span(samples).subspan(5));
        CHECK(read_trace(path).samples == samples); // as after SIGKILL
        CHECK_FALSE(writer.full());
        writer.finish({"stopped"});
        CHECK(read_trace(path).samples == samples);
        CHECK(read_trace(path).info.complete);
        CHECK(part_path(path, 2) == folder / ("trace." + extension + ".2"));
        CHECK(fs::exists(folder / ("trace." + extension + ".2")));
        CHECK_FALSE(fs::exists(part_path(path, 3)));

        // Its parts are no part of the trace that replaces it, and are not overtaken unasked.
        fs::remove(path);
        CHECK(message_of([&] { TraceWriter again(path); }).find("its part") != std::string::npos);
        { TraceWriter again(path, {.overwrite = true}); }
        CHECK(read_trace(path).samples.empty());
    }
}

TEST_CASE("a further file of a binary trace is readable by itself", "[trace][parts]") {
    const TemporaryFolder folder;
    {
        TraceWriter writer(folder / "trace.bin", {.max_samples = 1, .rotate = true});
        writer.begin(example().info);
        writer.append(example().samples);
        writer.finish({"stopped"});
    }
    const Trace part = read_trace(folder / "trace.bin.1");
    REQUIRE(part.samples.size() == 1);
    CHECK(part.samples[0] == example().samples[1]);
    CHECK(contains(part.info.reason, "no sidecar"));
    CHECK(is_binary("b.bin.12"));
    CHECK_FALSE(is_binary("trace.csv.1"));
    CHECK_FALSE(is_binary("bin.1"));
}

TEST_CASE("the trace of an interface called eth0.1 is no part of that of eth0", "[trace][parts]") {
    const TemporaryFolder folder;
    TraceWriter(folder / "t.eth0.csv").append(example().samples);
    TraceWriter(folder / "t.eth0.1.csv").append(example().samples);
    CHECK(read_trace(folder / "t.eth0.csv").samples == example().samples);
}

TEST_CASE("a time stamp that no recording can have is refused", "[trace]") {
    const TemporaryFolder folder;
    const fs::path path = folder / "trace.csv";
    write_text(
        path,
        "t_ns,rx_width_ns,tx_width_ns,rx_bytes,tx_bytes,flags\n0,1,1,0,0,0\n4000000000000000000,1,1,9,9,0\n");
    CHECK(message_of([&] { read_trace(path); }).find("trace.csv:3: is more than 36 years") !=
          std::string::npos);
}

TEST_CASE("a full trace keeps what fits and says that it is full", "[trace][parts]") {
    const TemporaryFolder folder;
    TraceWriter writer(folder / "trace.csv", {.max_samples = 1});
    CHECK_FALSE(writer.full());
    writer.append(example().samples);
    CHECK(writer.full());
    CHECK(writer.written() == 1);
    CHECK(read_trace(folder / "trace.csv").samples.size() == 1);
}

TEST_CASE("two traces never share a sidecar unawares", "[trace]") {
    const TemporaryFolder folder;
    write_trace(folder / "trace.csv", example());
    CHECK(message_of([&] {
              TraceWriter(folder / "trace.bin", {.overwrite = true});
          }).find("has the same sidecar") != std::string::npos);
    CHECK(read_trace(folder / "trace.csv").info.complete);
    CHECK_FALSE(fs::exists(folder / "trace.bin"));
}

TEST_CASE("a trace is read in pieces, wherever they are cut", "[trace]") {
    const TemporaryFolder folder;
    Trace trace;
    for (std::int64_t i = 0; i < 100'000; ++i) // 4 MB of text, 3 MB of records
        trace.samples.push_back({i * 1'000'000, 1800, 1700, static_cast<std::uint64_t>(i) * 1'500'000'000'000,
                                 1, i % 7 == 0 ? 1U : 0U});
    for (const char* name : {"one.csv", "two.bin"}) {
        write_trace(folder / name, trace);
        std::vector<Sample> samples;
        std::size_t largest = 0;
        for_each_block(folder / name, [&](std::span<const Sample> block) {
            largest = std::max(largest, block.size());
            samples.insert(samples.end(), block.begin(), block.end());
        });
        CHECK(samples == trace.samples);
        CHECK(largest < 60'000); // a MiB of the file at a time
    }
}

TEST_CASE("a line without end is no trace and is not read into memory", "[trace]") {
    const TemporaryFolder folder;
    write_text(folder / "trace.csv", std::string(3 << 20, '7'));
    CHECK(message_of([&] { read_trace(folder / "trace.csv"); }).find("is not a trace") != std::string::npos);
}
