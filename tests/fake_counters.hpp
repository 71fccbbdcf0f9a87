#pragma once

#include "collectors/monotonic_clock.hpp"
#include "collectors/sampler.hpp"
#include "temporary_folder.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

/// Samplers of counters that a test makes up.
namespace tests {

using collectors::CounterSource;
using collectors::SamplerOptions;
using collectors::SamplerReport;
using collectors::SamplerSource;
using collectors::SourceReport;
using collectors::Trace;
using Counters = CounterSource::Counters;

/// Calls a function for each read; it is told how many reads came before.
class FakeCounters : public CounterSource {
public:
    using Function = std::function<Counters(std::uint64_t)>;
    explicit FakeCounters(Function function) : function_(std::move(function)) {}

    Counters read() noexcept override {
        const std::int64_t begin = collectors::clock_ns();
        Counters counters = function_(reads_++);
        counters.begin_ns = begin;
        counters.middle_ns = begin + (collectors::clock_ns() - begin) / 2;
        counters.end_ns = collectors::clock_ns();
        return counters;
    }
    std::string name() const override { return "fake"; }

private:
    Function function_;
    std::uint64_t reads_ = 0;
};

inline Counters bytes(std::uint64_t rx, std::uint64_t tx) {
    Counters counters;
    counters.rx_bytes = rx;
    counters.tx_bytes = tx;
    return counters;
}

inline std::unique_ptr<FakeCounters> fake(FakeCounters::Function function) {
    return std::make_unique<FakeCounters>(std::move(function));
}

inline SamplerOptions every(std::chrono::nanoseconds interval) {
    SamplerOptions options;
    options.interval = interval;
    return options;
}

inline std::vector<SamplerSource> one(std::unique_ptr<CounterSource> source,
                                      const std::filesystem::path& path) {
    std::vector<SamplerSource> sources;
    sources.push_back({std::move(source), path, {}});
    return sources;
}

struct Recorded {
    SourceReport report;
    Trace trace;
    SamplerReport sampler;
};

/// Records for `duration`: that is the subject here, not a way to wait for something.
inline Recorded record(std::unique_ptr<CounterSource> source, const SamplerOptions& options,
                       std::chrono::nanoseconds duration) {
    const TemporaryFolder folder;
    collectors::Sampler sampler(one(std::move(source), folder / "trace.csv"), options);
    std::this_thread::sleep_for(duration);
    Recorded recorded;
    recorded.sampler = sampler.stop("duration");
    recorded.report = recorded.sampler.sources.at(0);
    recorded.trace = collectors::read_trace(folder / "trace.csv");
    return recorded;
}

} // namespace tests
