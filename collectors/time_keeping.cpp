#include "collectors/time_keeping.hpp"

#include "collectors/file_descriptor.hpp"

#include <cstring>

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/timex.h>

namespace collectors {

namespace {

std::optional<TimeSteering> steering() {
    timex answer{}; // modes 0: a question
    const int state = ::adjtimex(&answer);
    return state < 0 ? std::nullopt : std::optional(steering_of(state, answer));
}

std::optional<std::string> ptp_clock(const std::string& interface) {
    const FileDescriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ethtool_ts_info about{};
    about.cmd = ETHTOOL_GET_TS_INFO;
    ifreq request{};
    if (interface.empty() || interface.size() >= sizeof request.ifr_name)
        return std::nullopt;
    std::memcpy(request.ifr_name, interface.data(), interface.size());
    request.ifr_data = reinterpret_cast<char*>(&about);
    if (::ioctl(socket.number(), SIOCETHTOOL, &request) != 0)
        return std::nullopt;
    return about.phc_index < 0 ? "none" : "ptp" + std::to_string(about.phc_index);
}

} // namespace

TimeSteering steering_of(int state, const timex& answer) {
    constexpr double per_ppm = 65536;
    TimeSteering steering;
    steering.synchronised = state != TIME_ERROR && (answer.status & STA_UNSYNC) == 0;
    steering.maximum_error = std::chrono::microseconds(answer.maxerror);
    steering.estimated_error = std::chrono::microseconds(answer.esterror);
    steering.frequency_ppm = static_cast<double>(answer.freq) / per_ppm;
    return steering;
}

TimeKeeping time_keeping(const std::string& interface) {
    return {steering(), ptp_clock(interface)};
}

} // namespace collectors
