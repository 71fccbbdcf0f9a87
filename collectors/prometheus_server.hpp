#pragma once

#include "collectors/live_metrics.hpp"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace collectors {

/// Serves what recordings see while they go on, in Prometheus' text format at /metrics, until it is
/// destroyed. It answers on threads of its own; the sampling thread never waits for it.
class PrometheusServer {
public:
    /// `recordings`: host, interface, driver and interval of each. `address`: ADDR:PORT, or PORT on the
    /// loopback address; port 0 is any that is free. Throws UsageError if nothing can listen there, or if
    /// this build is without Prometheus (see the CMake summary).
    PrometheusServer(const std::string& address, const std::vector<TraceInfo>& recordings);
    ~PrometheusServer();
    PrometheusServer(const PrometheusServer&) = delete;
    PrometheusServer& operator=(const PrometheusServer&) = delete;

    /// For the sampler: takes the samples of recording i. May be called as long as it lives, also after the
    /// server.
    std::function<void(std::span<const Sample>)> observer(std::size_t i) const;
    /// Where it listens, http://ADDR:PORT/metrics.
    const std::string& url() const { return url_; }

private:
    struct Server;
    std::vector<std::shared_ptr<LiveMetrics>> metrics_;
    std::unique_ptr<Server> server_;
    std::string host_; ///< without brackets
    std::string port_;
    std::string url_;
};

} // namespace collectors
