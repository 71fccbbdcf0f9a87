#include "collectors/commands.hpp"
#include "collectors/prometheus_server.hpp"

/// Stands in where prometheus-cpp was not there when gradburst was built.
namespace collectors {

struct PrometheusServer::Server {};

PrometheusServer::PrometheusServer(const std::string&, const std::vector<TraceInfo>&) {
    throw UsageError(
        "--prometheus: this build cannot serve metrics; install prometheus-cpp-dev, configure and "
        "build again");
}

std::function<void(std::span<const Sample>)> PrometheusServer::observer(std::size_t) const {
    return {};
}

PrometheusServer::~PrometheusServer() = default;

} // namespace collectors
