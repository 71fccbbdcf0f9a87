#include "generator/verdict.hpp"

#include "generator/json_values.hpp"
#include "generator/measured_values.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace generator {
namespace {

using Json = nlohmann::ordered_json;

/// What [lower, upper] tells about the truth that lies in it.
Result compare_bounds(double lower, double upper, Comparison comparison, double limit) {
    const auto told = [](bool pass, bool fail) {
        return pass ? Result::pass : fail ? Result::fail : Result::not_measured;
    };
    switch (comparison) {
    case Comparison::at_least:
        return told(lower >= limit, upper < limit);
    case Comparison::above:
        return told(lower > limit, upper <= limit);
    case Comparison::at_most:
        return told(upper <= limit, lower > limit);
    case Comparison::below:
        return told(upper < limit, lower >= limit);
    case Comparison::equal:
        break;
    }
    return told(lower == limit && upper == limit, limit < lower || limit > upper);
}

/// Writes numbers of one unit as people read them, with all digits if two that differ would look the same.
class DistinctNumbers {
public:
    DistinctNumbers(std::initializer_list<double> numbers, QuantityUnit unit) : unit_(unit) {
        std::map<std::string, double> seen;
        for (const double number : numbers)
            all_digits_ =
                all_digits_ || seen.emplace(format_quantity(number, unit), number).first->second != number;
    }

    std::string text(double number) const {
        if (!all_digits_)
            return format_quantity(number, unit_);
        const std::string_view unit = to_text(unit_);
        return unit == "1" ? fmt::format("{}", number) : fmt::format("{} {}", number, unit);
    }

private:
    QuantityUnit unit_;
    bool all_digits_ = false;
};

std::string bounds_text(double lower, double upper, const DistinctNumbers& numbers) {
    if (lower == upper)
        return numbers.text(lower);
    if (std::isinf(upper))
        return "at least " + numbers.text(lower);
    return fmt::format("{} to {}", numbers.text(lower), numbers.text(upper));
}

Judgement judge_value(const Expectation& expectation, const MeasuredValue& value) {
    const QuantityUnit unit = expectation.quantity.unit;
    Judgement judgement{.text = expectation.text,
                        .result = Result::not_measured,
                        .measured = value.estimate,
                        .lower = value.lower,
                        .upper = value.upper,
                        .unit = unit,
                        .where = value.where};
    if (!expectation.is_of_prediction)
        judgement.limit = expectation.limit;
    else if (value.predicted)
        judgement.limit = expectation.limit * *value.predicted;
    const std::string place = value.where.empty() ? "" : " on " + value.where;
    if (!value.problem.empty())
        judgement.reason = fmt::format("not measured{}: {}", place, value.problem);
    else if (!judgement.limit)
        judgement.reason =
            fmt::format("not measured{}: nothing is predicted (is the line rate known?)", place);
    else {
        const double shown_upper = std::isinf(*value.upper) ? *value.lower : *value.upper;
        const DistinctNumbers numbers({*value.lower, shown_upper, *judgement.limit}, unit);
        judgement.result =
            compare_bounds(*value.lower, *value.upper, expectation.comparison, *judgement.limit);
        judgement.reason = fmt::format(
            "{}{}{}, wanted {} {}", bounds_text(*value.lower, *value.upper, numbers), place,
            judgement.result == Result::not_measured ? ": cannot be told, the limit lies between the bounds"
                                                     : "",
            to_text(expectation.comparison), numbers.text(*judgement.limit));
    }
    return judgement;
}

/// How far the value is from its limit, to the bad side: of several that pass, the nearest to failing is
/// shown.
double closeness(const Judgement& judgement, Comparison comparison) {
    if (!judgement.limit || !judgement.lower || !judgement.upper)
        return 0;
    const bool from_below = comparison == Comparison::at_least || comparison == Comparison::above;
    return from_below ? *judgement.limit - *judgement.lower : *judgement.upper - *judgement.limit;
}

Judgement judge_one(const Expectation& expectation, const Json& run) {
    if (const std::string reason = unfinished(run); !reason.empty())
        return judge_value(expectation, {.problem = reason});
    std::optional<Judgement> decisive;
    for (const MeasuredValue& value : measured_values(expectation, run)) {
        Judgement judgement = judge_value(expectation, value);
        const bool worse_result = decisive && judgement.result > decisive->result;
        const bool same_result = decisive && judgement.result == decisive->result;
        if (!decisive || worse_result ||
            (same_result &&
             closeness(judgement, expectation.comparison) > closeness(*decisive, expectation.comparison)))
            decisive = std::move(judgement);
    }
    return *decisive;
}

} // namespace

std::vector<std::string> Verdict::reasons() const {
    std::vector<std::string> reasons;
    for (const Judgement& each : judgements)
        if (each.result != Result::pass)
            reasons.push_back(fmt::format("{}: {}", each.text, each.reason));
    return reasons;
}

Result worse(Result a, Result b) {
    return std::max(a, b);
}

Verdict judge(std::span<const Expectation> expectations, const Json& run) {
    Verdict verdict;
    for (const Expectation& expectation : expectations) {
        verdict.judgements.push_back(judge_one(expectation, run));
        verdict.result = worse(verdict.result, verdict.judgements.back().result);
    }
    return verdict;
}

std::string_view to_text(Result result) {
    switch (result) {
    case Result::pass:
        return "pass";
    case Result::fail:
        return "fail";
    case Result::not_measured:
        return "not_measured";
    case Result::none:
        break;
    }
    return "none";
}

Json verdict_json(const Verdict& verdict) {
    Json json;
    json["result"] = to_text(verdict.result);
    json["reasons"] = verdict.reasons();
    json["expectations"] = Json::array();
    for (const Judgement& each : verdict.judgements) {
        Json entry;
        entry["text"] = each.text;
        entry["result"] = to_text(each.result);
        entry["measured"] = or_null(each.measured);
        entry["lower"] = or_null(each.lower);
        entry["upper"] = or_null(each.upper);
        entry["unit"] = to_text(each.unit);
        entry["limit"] = or_null(each.limit);
        entry["where"] = each.where.empty() ? Json() : Json(each.where);
        entry["reason"] = each.reason;
        json["expectations"].push_back(std::move(entry));
    }
    return json;
}

} // namespace generator
