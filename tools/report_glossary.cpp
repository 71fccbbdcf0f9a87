#include "tools/report_sections.hpp"

#include <array>
#include <string_view>

namespace tools {
namespace {

struct Term {
    std::string_view term;
    std::string_view unit;
    std::string_view meaning;
    std::string_view formula;
    std::string_view source;
};

constexpr std::array terms{
    Term{"E(tau)", "bytes", "burstiness curve: the most bytes in any window of length tau",
         "max over t of A(t + tau) - A(t), A: the interface's byte counter", "arXiv 2401.00329"},
    Term{"lower, estimate, upper", "",
         "each reading of a counter lies between two clock readings: the truth is "
         "certainly within lower and upper, and likely near the estimate",
         "lower: max A_j - A_i with e_j - b_i <= tau; read i lies in [b_i, e_i]", "gradburst-collect(1)"},
    Term{"PtM(tau)", "1", "peak to mean ratio at a time scale", "E(tau) / (tau x mean rate)",
         "arXiv 2401.00329"},
    Term{"60 : 1 at 5 ms", "1",
         "the mark in the charts of PtM: traffic of ResNet-50 was measured to peak at more than 60 times its "
         "mean on "
         "intervals as long as 5 ms; a mark for orientation, not an expectation",
         "PtM(5 ms) > 60", "arXiv 2401.00329"},
    Term{"CV(tau), index of dispersion", "1, bytes",
         "how much the bytes in windows of length tau vary, beside the one largest of them: 0 for even "
         "traffic; the index "
         "grows with tau where bursts are correlated",
         "standard deviation / mean; variance / mean, of the bytes in successive windows tau",
         "Cox and Lewis, 1966"},
    Term{"burst, pause", "",
         "a stretch in which the rate stays above twice the mean; what lies between two of them", "",
         "gradburst-collect(1)"},
    Term{"period", "s", "after which the traffic looks most like itself; none if the likeness is below 0.3",
         "first high peak of the autocorrelation", "gradburst-collect(1)"},
    Term{"resolved", "s", "the smallest window of which a trace can tell",
         "10 x the median distance of samples, or 2 x the period at which the counter moves",
         "gradburst-collect(1)"},
    Term{"B_max(r)", "bytes", "the largest queue if the counted traffic fed a link of rate r",
         "max over i < j of A_j - A_i - r (t_j - t_i)", "Lindley recursion"},
    Term{"iteration time", "s", "forward and backward pass, communication, optimizer",
         "end of the optimizer - start of the iteration, on the slowest rank", "timeline.csv"},
    Term{"bucket time", "s", "from the start of a bucket's collective to its last byte",
         "end - start, on the slowest rank", "timeline.csv"},
    Term{"start lateness", "s", "delay of the sender itself, for want of CPU time; not the network's",
         "start - max(due, end of the bucket before it)", "timeline.csv"},
    Term{"start skew", "s",
         "how long after the median rank a rank started a bucket; as exact as the clock offsets",
         "start - median of all ranks' starts of that bucket", "timeline.csv"},
    Term{"gating rank", "", "the rank that started the iteration's last collective last", "", "run.json"},
    Term{"algorithm bandwidth", "bytes/s", "what the job sees",
         "bytes of the buffers / time on the slowest rank", "nccl-tests"},
    Term{"bus bandwidth", "bytes/s", "what the links see, comparable over numbers of ranks",
         "algorithm bandwidth x 2(N-1)/N for all-reduce", "nccl-tests"},
    Term{"prediction", "", "a fluid model of the same plans: fair shares, no queue between hosts, no loss",
         "", "gradburst-plan(1)"},
    Term{"goodput", "bytes/s", "of a rank", "payload sent / time with a bucket in flight", "timeline.csv"},
    Term{"not measured", "",
         "neither pass nor fail: the run is not complete, the window is below what is resolved, "
         "more than 1 % of ticks were missed, a gap is longer than the window, a rank or a host used "
         "more than 90 % of its CPU, or the limit lies between the certified bounds",
         "", "gradburst-report(1)"},
    Term{"JCT ratio, overlap fraction, JFI, CV", "1", "informative words of the IETF's drafts on AI fabrics",
         "", "draft-calabria-bmwg-ai-fabric-terminology"}};

} // namespace

nlohmann::ordered_json glossary_section() {
    auto section = nlohmann::ordered_json::array();
    for (const Term& each : terms)
        section.push_back({{"term", each.term},
                           {"unit", each.unit},
                           {"meaning", each.meaning},
                           {"formula", each.formula},
                           {"source", each.source}});
    return section;
}

} // namespace tools
