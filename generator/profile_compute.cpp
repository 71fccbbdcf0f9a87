#include "collectors/units.hpp"
#include "generator/profile_sections.hpp"

#include "generator/profile_reader.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace generator {
namespace {

constexpr Range<nanoseconds> part_range{nanoseconds(0), std::chrono::hours(24)};
constexpr double share_tolerance = 1e-6;

/// Shares of an iteration's compute time: measured on ResNet-50, see profiles/README.md.
struct Shares {
    double forward = 0.32;
    double backward = 0.65;
    double optimizer = 0.03;
};

/// The three parts add up to the total exactly: what rounding leaves goes to backward.
ComputeTimes split(nanoseconds total, const Shares& shares) {
    const auto part = [total](double share) {
        return nanoseconds(std::llround(static_cast<double>(total.count()) * share));
    };
    ComputeTimes times;
    times.forward = std::min(part(shares.forward), total);
    times.optimizer = std::min(part(shares.optimizer), total - times.forward);
    times.backward = total - times.forward - times.optimizer;
    return times;
}

/// The compute section as it stands; its three ways to say the times exclude each other.
struct ComputeFields {
    std::optional<nanoseconds> time;
    std::optional<double> images_per_second;
    std::optional<std::uint64_t> batch;
    std::optional<double> forward_share, backward_share, optimizer_share;
    std::optional<nanoseconds> forward, backward, optimizer;
};

Shares read_shares(const ObjectReader& section, const ComputeFields& fields) {
    Shares shares;
    shares.forward = fields.forward_share.value_or(shares.forward);
    shares.backward = fields.backward_share.value_or(shares.backward);
    shares.optimizer = fields.optimizer_share.value_or(shares.optimizer);
    const double sum = shares.forward + shares.backward + shares.optimizer;
    if (std::abs(sum - 1) > share_tolerance) {
        section.fail(
            "",
            fmt::format("forward_share + backward_share + optimizer_share must be 1, is {} + {} + {} = {:g}",
                        shares.forward, shares.backward, shares.optimizer, sum));
    }
    return shares;
}

ComputeTimes explicit_times(const ObjectReader& section, const ComputeFields& fields) {
    if (fields.forward_share || fields.backward_share || fields.optimizer_share) {
        section.fail(
            "", "shares belong to \"time\" or \"images_per_second\", not to forward, backward, optimizer");
    }
    if (!fields.forward || !fields.backward) {
        section.fail(fields.forward ? "backward" : "forward",
                     "required, because the times are given one by one (forward, backward, optimizer)");
    }
    return {*fields.forward, *fields.backward, fields.optimizer.value_or(nanoseconds(0))};
}

ComputeTimes compute_times(const ObjectReader& section, const ComputeFields& fields) {
    const bool one_by_one = fields.forward || fields.backward || fields.optimizer;
    const bool throughput = fields.images_per_second || fields.batch;
    if (int{one_by_one} + int{throughput} + int{fields.time.has_value()} > 1) {
        section.fail("", "give one of: time; images_per_second and batch; forward, backward and optimizer");
    }
    if (one_by_one) {
        return explicit_times(section, fields);
    }
    const Shares shares = read_shares(section, fields);
    if (!throughput) {
        return split(fields.time.value_or(nanoseconds(0)), shares);
    }
    if (!fields.images_per_second || !fields.batch) {
        section.fail(fields.batch ? "images_per_second" : "batch",
                     "required, because images_per_second and batch belong together");
    }
    const double seconds = static_cast<double>(*fields.batch) / *fields.images_per_second;
    if (seconds > collectors::in_seconds(part_range.most)) {
        section.fail("batch", fmt::format("batch / images_per_second must be at most {}, is {:g} s",
                                          shown(part_range.most), seconds));
    }
    return split(nanoseconds(std::llround(seconds * 1e9)), shares);
}

/// A corner of the curve, which goes neither back nor down.
CurvePoint read_point(const ObjectReader& section, const nlohmann::json& value, const CurvePoint& before,
                      std::size_t index) {
    const std::string place = "/" + std::to_string(index);
    const auto is_number = [](const nlohmann::json& item) { return item.is_number(); };
    if (!value.is_array() || value.size() != 2 || !std::all_of(value.begin(), value.end(), is_number)) {
        section.fail_below("ready_curve", place, "must be [backward fraction, bytes fraction]");
    }
    const CurvePoint point{value[0].get<double>(), value[1].get<double>()};
    for (const double fraction : {point.backward, point.bytes}) {
        if (fraction < 0 || fraction > 1) {
            section.fail_below("ready_curve", place,
                               fmt::format("must be fractions, 0 to 1, is {}", fraction));
        }
    }
    if (point.backward < before.backward || point.bytes < before.bytes) {
        section.fail_below("ready_curve", place,
                           fmt::format("must not go back behind [{}, {}], is [{}, {}]", before.backward,
                                       before.bytes, point.backward, point.bytes));
    }
    return point;
}

/// The name of a curve, or its corners; (0, 0) and (1, 1) need not be given.
void read_ready_curve(ObjectReader& section, Profile& profile) {
    const nlohmann::json* value = section.raw("ready_curve");
    if (value == nullptr) {
        return;
    }
    if (!value->is_array()) {
        profile.ready_curve = static_cast<ReadyCurve>(*section.choice("ready_curve", ready_curve_names));
        return;
    }
    if (value->empty()) {
        section.fail("ready_curve", "must have points, is an empty list");
    }
    profile.ready_curve = ReadyCurve::points;
    std::vector<CurvePoint>& points = profile.curve_points;
    points.push_back({0, 0});
    for (std::size_t i = 0; i < value->size(); ++i) {
        const CurvePoint point = read_point(section, (*value)[i], points.back(), i);
        if (!(point == points.back())) {
            points.push_back(point);
        }
    }
    if (!(points.back() == CurvePoint{1, 1})) {
        points.push_back({1, 1});
    }
}

} // namespace

void read_compute(ObjectReader section, Profile& profile) {
    ComputeFields fields;
    fields.time = section.duration("time", part_range);
    fields.images_per_second = section.number("images_per_second", {1e-6, 1e9});
    fields.batch = section.count("batch", {1, 1'000'000'000});
    fields.forward_share = section.number("forward_share", {0, 1});
    fields.backward_share = section.number("backward_share", {0, 1});
    fields.optimizer_share = section.number("optimizer_share", {0, 1});
    fields.forward = section.duration("forward", part_range);
    fields.backward = section.duration("backward", part_range);
    fields.optimizer = section.duration("optimizer", part_range);
    profile.accumulation_steps =
        static_cast<std::uint32_t>(section.count("accumulation_steps", {1, 1000}).value_or(1));
    read_ready_curve(section, profile);
    read_variation(section, profile);
    section.finish();
    profile.compute = compute_times(section, fields);
}

} // namespace generator
