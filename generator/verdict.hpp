#pragma once

#include "generator/expectation.hpp"

#include "collectors/trace_quality.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace generator {

enum class Result { none, pass, not_measured, fail };

/// One expectation beside what was measured. Of several interfaces the one that decides.
struct Judgement {
    std::string text; ///< of the expectation
    Result result = Result::none;
    std::optional<double> measured; ///< the estimate, in the quantity's unit
    std::optional<double> lower;    ///< certified
    std::optional<double> upper;
    QuantityUnit unit = QuantityUnit::ratio;
    std::optional<double> limit; ///< empty: of a prediction that there is none of
    std::string where;           ///< "gb0.eth0 tx"; empty: the quantity is the whole run's
    std::string reason;
};

struct Verdict {
    Result result = Result::none; ///< the worst: fail before not measured before pass
    std::vector<Judgement> judgements;

    /// Of all that did not pass.
    std::vector<std::string> reasons() const;
};

using collectors::most_gap_share;
using collectors::most_missed_share;
/// Of a core, above which a rank, a host or a sampler is taken for saturated.
inline constexpr double most_cpu_share = 0.9;

/// Judges by what run.json says. A certified lower bound must reach a lower limit, a certified upper bound
/// must not pass an upper one; a limit between them cannot be told. Not measured is also what a run that did
/// not complete says, a window below what is resolved, a trace with too many missed ticks or with a gap
/// longer than the window, and times of ranks without CPU left. Pure.
Verdict judge(std::span<const Expectation> expectations, const nlohmann::ordered_json& run);

/// The worst of both.
Result worse(Result a, Result b);
std::string_view to_text(Result result); ///< "not_measured"
nlohmann::ordered_json verdict_json(const Verdict& verdict);

} // namespace generator
