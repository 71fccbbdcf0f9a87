#include "generator/background_report.hpp"

#include "generator/socket_state_json.hpp"

#include <nlohmann/json.hpp>

namespace generator {
namespace {

nlohmann::json ends_json(const std::vector<FlowEnd>& ends) {
    nlohmann::json list = nlohmann::json::array();
    for (const FlowEnd& end : ends)
        list.push_back({{"flow", end.flow},
                        {"bytes", end.bytes},
                        {"messages", end.messages},
                        {"times_ns", end.times_ns},
                        {"error", end.error},
                        {"sockets", to_json(end.sockets)}});
    return list;
}

std::vector<FlowEnd> ends_from(const nlohmann::json& list) {
    std::vector<FlowEnd> ends;
    for (const nlohmann::json& each : list)
        ends.push_back({each.at("flow"), each.at("bytes"), each.at("messages"),
                        each.at("times_ns").get<std::vector<std::int64_t>>(), each.at("error"),
                        socket_state_from(each.at("sockets"))});
    return ends;
}

} // namespace

std::string serialize(const BackgroundReport& report) {
    return nlohmann::json{{"ended_ns", report.ended_ns},
                          {"sent", ends_json(report.sent)},
                          {"received", ends_json(report.received)}}
        .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

BackgroundReport parse_background_report(const std::string& text) {
    const nlohmann::json document = nlohmann::json::parse(text);
    return {document.at("ended_ns"), ends_from(document.at("sent")), ends_from(document.at("received"))};
}

} // namespace generator
