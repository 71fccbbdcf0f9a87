// What one reading of both counters costs by each source that this user may have: bench_counter_sources
// INTERFACE.
#include "collectors/ebpf_counters.hpp"
#include "collectors/source_choice.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace {

using namespace collectors;

constexpr std::size_t readings = 20'000;
constexpr int passes = 5;

/// One pass: how long each reading took, by its own stamps.
std::vector<std::int64_t> widths(CounterSource& source) {
    std::vector<std::int64_t> all;
    all.reserve(readings);
    while (all.size() < readings) {
        const CounterSource::Counters counters = source.read();
        all.push_back(counters.end_ns - counters.begin_ns);
    }
    std::sort(all.begin(), all.end());
    return all;
}

/// The median pass.
void print(const std::string& name, CounterSource& source) {
    std::vector<std::vector<std::int64_t>> all;
    for (int pass = 0; pass < passes; ++pass)
        all.push_back(widths(source));
    const auto at = [&](std::size_t rank) {
        std::vector<std::int64_t> values;
        for (const auto& pass : all)
            values.push_back(pass[rank]);
        std::sort(values.begin(), values.end());
        return values[passes / 2];
    };
    fmt::print("{:<10} p50 {:>6} ns   p99 {:>6} ns   p99.9 {:>7} ns\n", name, at(readings / 2),
               at(readings * 99 / 100), at(readings * 999 / 1000));
}

} // namespace

int main(int argc, char** argv) {
    const std::string interface = argc > 1 ? argv[1] : "lo";
    for (const SourceKind kind :
         {SourceKind::sysfs, SourceKind::procfs, SourceKind::rtnetlink, SourceKind::ebpf}) {
        try {
            const ChosenSource chosen = choose_source(interface, kind, {}, open_ebpf_counters);
            print(chosen.source->name(), *chosen.source);
        } catch (const std::exception& error) {
            fmt::print("{}\n", error.what());
        }
    }
}
