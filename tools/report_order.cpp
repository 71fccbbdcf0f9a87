#include "tools/report_order.hpp"

#include "tools/report_sections.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace tools {
namespace {

using Json = nlohmann::ordered_json;

Json list_in(const Json& document, const std::string& path) {
    Json found = section_in(document, path);
    return found.is_array() ? found : Json::array();
}

/// "h2" before "h10".
int by_numbers(const std::string& a, const std::string& b) {
    return ::strverscmp(a.c_str(), b.c_str());
}

} // namespace

RankOrder::RankOrder(const Json& run) {
    const auto add = [&](const std::string& host, const Json& interface, const Json& rank) {
        if (!rank.is_number_integer())
            return;
        const int number = rank.get<int>();
        const auto keep_lowest = [&](const Place& place) {
            const auto [known, is_new] = lowest_.emplace(place, number);
            if (!is_new)
                known->second = std::min(known->second, number);
        };
        keep_lowest({host, ""});
        if (interface.is_string())
            keep_lowest({host, interface.get<std::string>()});
    };
    for (const Json& host : list_in(run, "/context/hosts"))
        for (const Json& rank : list_in(host, "/ranks"))
            add(host.value("host", ""), section_in(rank, "/interface"), section_in(rank, "/rank"));
    for (const char* const path : {"/interfaces", "/switch_ports"})
        for (const Json& each : list_in(run, path))
            for (const Json& rank : list_in(each, "/ranks"))
                add(each.value("host", ""), section_in(each, "/interface"), rank);
}

int RankOrder::rank_of(const Place& place) const {
    const auto exactly = lowest_.find(place);
    const auto found = exactly != lowest_.end() ? exactly : lowest_.find({place.first, ""});
    return found != lowest_.end() ? found->second : std::numeric_limits<int>::max();
}

bool RankOrder::operator()(const Place& a, const Place& b) const {
    if (const int of_a = rank_of(a), of_b = rank_of(b); of_a != of_b)
        return of_a < of_b;
    const int hosts = by_numbers(a.first, b.first);
    return hosts != 0 ? hosts < 0 : by_numbers(a.second, b.second) < 0;
}

void sort_by_rank(ReportInput& input) {
    const RankOrder order(input.run);
    std::stable_sort(input.traces.begin(), input.traces.end(),
                     [&](const TraceSource& a, const TraceSource& b) {
                         return a.is_switch_port != b.is_switch_port
                                    ? b.is_switch_port
                                    : order({a.info.host, a.info.interface}, {b.info.host, b.info.interface});
                     });
    std::stable_sort(input.lanes.begin(), input.lanes.end(), [&](const LaneSource& a, const LaneSource& b) {
        return a.is_switch_port != b.is_switch_port ? b.is_switch_port
                                                    : order({a.host, a.interface}, {b.host, b.interface});
    });
}

void sort_by_rank(Json& document) {
    const RankOrder order(document);
    const auto place_of = [](const Json& each) {
        return RankOrder::Place{each.value("host", ""), each.value("interface", "")};
    };
    for (const char* const key : {"interfaces", "slow_lane", "switch_ports"})
        if (const auto list = document.find(key); list != document.end() && list->is_array())
            std::stable_sort(list->begin(), list->end(),
                             [&](const Json& a, const Json& b) { return order(place_of(a), place_of(b)); });
}

} // namespace tools
