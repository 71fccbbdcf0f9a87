#include "collectors/prometheus_server.hpp"

#include "collectors/commands.hpp"
#include "collectors/file_descriptor.hpp"
#include "collectors/summary.hpp"
#include "collectors/units.hpp"

#include <fstream>
#include <thread>
#include <utility>

#include <netdb.h>
#include <sys/socket.h>

#include <fmt/format.h>
#include <prometheus/exposer.h>
#include <prometheus/metric_family.h>

namespace collectors {

namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

/// The families of one scrape, each with the values of all interfaces.
class Families {
public:
    void gauge(const std::string& name, const std::string& help, Labels labels, double value) {
        ClientMetric metric;
        metric.label = std::move(labels);
        metric.gauge.value = value;
        family(name, help, MetricType::Gauge).metric.push_back(std::move(metric));
    }
    void counter(const std::string& name, const std::string& help, Labels labels, double value) {
        ClientMetric metric;
        metric.label = std::move(labels);
        metric.counter.value = value;
        family(name, help, MetricType::Counter).metric.push_back(std::move(metric));
    }
    std::vector<MetricFamily> take() { return std::move(families_); }

private:
    MetricFamily& family(const std::string& name, const std::string& help, MetricType type) {
        for (MetricFamily& family : families_)
            if (family.name == "gradburst_collect_" + name)
                return family;
        families_.push_back({"gradburst_collect_" + name, help, type, {}});
        return families_.back();
    }

    std::vector<MetricFamily> families_;
};

/// Read when somebody asks, beside the sampling thread; nothing if the device is gone.
std::optional<double> dropped_packets(const std::string& interface, Direction direction) {
    std::ifstream file(fmt::format("/sys/class/net/{}/statistics/{}_dropped", interface, to_text(direction)));
    double count = 0;
    return file >> count ? std::optional(count) : std::nullopt;
}

void add_curve(Families& families, const Labels& labels, const BurstinessCurve& curve) {
    families.gauge("window_seconds", "Length of the last whole window that the peak-to-mean ratios are of",
                   labels, in_seconds(curve.span));
    families.gauge("window_resolved_from_seconds", "Smallest tau that the samples of that window resolve",
                   labels, in_seconds(curve.resolved_from));
    if (curve.total_bytes == 0)
        return;
    for (const BurstinessPoint& point : curve.points) {
        if (!point.resolved)
            continue;
        const Bounds ratio = peak_to_mean(curve, point);
        for (const auto& [bound, value] :
             {std::pair("lower", ratio.lower), std::pair("estimate", ratio.estimate),
              std::pair("upper", ratio.upper)}) {
            Labels all = labels;
            all.push_back({"tau_seconds", fmt::format("{}", in_seconds(point.window))});
            all.push_back({"bound", bound});
            families.gauge("peak_to_mean",
                           "E(tau) / (tau x mean rate) over the last whole window; lower is certified", all,
                           value);
        }
    }
}

void add_interface(Families& families, const LiveSnapshot& snapshot) {
    const Labels interface {
        {"host", snapshot.host}, { "interface", snapshot.interface }
    };
    const TraceQuality& quality = snapshot.quality;
    families.counter("samples_total", "Samples taken", interface, static_cast<double>(quality.samples));
    families.counter("missed_ticks_total",
                     "Ticks at which no sample was taken because the sampler came too late", interface,
                     static_cast<double>(quality.missed));
    families.counter("failed_reads_total", "Reads of the counters that failed or were dropped", interface,
                     static_cast<double>(quality.failed));
    for (const LiveDirection& live : snapshot.directions) {
        Labels labels = interface;
        labels.push_back({"direction", std::string(to_text(live.direction))});
        families.counter("bytes_total", "Bytes counted since the recording began", labels,
                         static_cast<double>(live.bytes));
        if (live.bytes_per_second)
            families.gauge("bytes_per_second", "Mean rate over the last second", labels,
                           *live.bytes_per_second);
        if (const auto dropped = dropped_packets(snapshot.interface, live.direction))
            families.counter("dropped_packets_total", "Packets that the interface dropped since it came up",
                             labels, *dropped);
        if (live.curve)
            add_curve(families, labels, *live.curve);
    }
}

class LiveCollectable : public prometheus::Collectable {
public:
    explicit LiveCollectable(std::vector<std::shared_ptr<LiveMetrics>> metrics)
        : metrics_(std::move(metrics)) {}

    std::vector<MetricFamily> Collect() const override {
        Families families;
        for (const auto& metrics : metrics_)
            add_interface(families, metrics->snapshot());
        return families.take();
    }

private:
    std::vector<std::shared_ptr<LiveMetrics>> metrics_;
};

/// Who sends half a request must not keep others from theirs, nor the end of the recording from coming:
/// civetweb looks whether it shall stop when a wait ends.
std::vector<std::string> server_options(const std::string& address) {
    return {"listening_ports",   address, "num_threads",       "8", "request_timeout_ms", "250",
            "enable_keep_alive", "no",    "linger_timeout_ms", "0"};
}

/// civetweb waits for connections for 2 s before it looks whether it shall stop: one that is made ends the
/// wait.
void wake(const std::string& host, const std::string& port) {
    const addrinfo hints{.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
    addrinfo* found = nullptr;
    if (::getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0)
        return; // it stops anyway
    const FileDescriptor socket(
        ::socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, found->ai_protocol));
    if (socket.is_open())
        ::connect(socket.number(), found->ai_addr, found->ai_addrlen);
    ::freeaddrinfo(found);
}

} // namespace

struct PrometheusServer::Server {
    std::shared_ptr<LiveCollectable> collectable;
    prometheus::Exposer exposer;
};

PrometheusServer::PrometheusServer(const std::string& address, const std::vector<TraceInfo>& recordings) {
    for (const TraceInfo& info : recordings)
        metrics_.push_back(std::make_shared<LiveMetrics>(info));
    // A port alone would listen on all addresses; whoever wants that names 0.0.0.0.
    const std::size_t colon = address.rfind(':');
    const std::string host = colon == std::string::npos ? "127.0.0.1" : address.substr(0, colon);
    const std::string port = colon == std::string::npos ? address : address.substr(colon + 1);
    if (host.empty() || port.empty() || port.find_first_not_of("0123456789") != std::string::npos)
        throw UsageError(fmt::format("--prometheus: '{}' is not ADDR:PORT", address));
    try {
        server_.reset(new Server{std::make_shared<LiveCollectable>(metrics_),
                                 prometheus::Exposer(server_options(host + ":" + port))});
    } catch (const std::exception& error) {
        throw UsageError(
            fmt::format("--prometheus: cannot listen on {}:{} ({}); is the port taken, or the address "
                        "not of this host?",
                        host, port, error.what()));
    }
    server_->exposer.RegisterCollectable(server_->collectable);
    port_ = std::to_string(server_->exposer.GetListeningPorts().front());
    url_ = fmt::format("http://{}:{}/metrics", host, port_);
    host_ = host.starts_with('[') ? host.substr(1, host.size() - 2) : host;
}

std::function<void(std::span<const Sample>)> PrometheusServer::observer(std::size_t i) const {
    return [metrics = metrics_.at(i)](std::span<const Sample> samples) { metrics->add(samples); };
}

PrometheusServer::~PrometheusServer() {
    const std::jthread waking([this](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            wake(host_, port_);
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    });
    server_.reset();
}

} // namespace collectors
