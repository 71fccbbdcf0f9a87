#include "collectors/sysfs_counters.hpp"

#include "collectors/interfaces.hpp"
#include "collectors/monotonic_clock.hpp"

#include <cerrno>
#include <charconv>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace collectors {

namespace {

constexpr std::int64_t reopen_every_ns = 100'000'000;

std::string missing(const std::string& name, const std::filesystem::path& root) {
    std::vector<std::string> available;
    for (const NetworkInterface& interface : list_interfaces(root))
        available.push_back(interface.name);
    return fmt::format("no interface {} on host {}; available: {}", name, host_name(),
                       available.empty() ? "none" : fmt::format("{}", fmt::join(available, ", ")));
}

/// errno, or 0 and the value.
int read_counter(int descriptor, std::uint64_t& value) noexcept {
    std::array<char, 24> text; // 20 digits and a line end
    const ssize_t length = ::pread(descriptor, text.data(), text.size(), 0);
    if (length < 0)
        return errno;
    if (length == 0)
        return ENODATA;
    const auto [end, error] = std::from_chars(text.data(), text.data() + length, value);
    return error == std::errc() ? 0 : EBADMSG;
}

} // namespace

NoInterface::NoInterface(const std::string& name, const std::filesystem::path& root)
    : std::runtime_error(missing(name, root)) {}

SysfsCounters::SysfsCounters(const std::string& interface, const std::filesystem::path& root) {
    const std::filesystem::path statistics = root / describe_interface(interface, root).name / "statistics";
    paths_ = {(statistics / "rx_bytes").string(), (statistics / "tx_bytes").string()};
    const int error = open_files();
    if (error != 0)
        throw std::system_error(error, std::generic_category(), "open counters in " + statistics.string());
}

SysfsCounters::~SysfsCounters() {
    close_files();
}

int SysfsCounters::open_files() noexcept {
    for (std::size_t i = 0; i < paths_.size(); ++i) {
        descriptors_[i] = ::open(paths_[i].c_str(), O_RDONLY | O_CLOEXEC);
        if (descriptors_[i] < 0) {
            const int error = errno;
            close_files();
            return error;
        }
    }
    return 0;
}

void SysfsCounters::close_files() noexcept {
    for (int& descriptor : descriptors_) {
        if (descriptor >= 0)
            ::close(descriptor);
        descriptor = -1;
    }
}

CounterSource::Counters SysfsCounters::read() noexcept {
    Counters counters;
    if (lost_) {
        const std::int64_t now = clock_ns();
        if (now < next_attempt_ns_) {
            counters.error = ENODEV;
            return counters;
        }
        next_attempt_ns_ = now + reopen_every_ns;
        close_files();
        counters.error = open_files();
        if (counters.error != 0)
            return counters;
    }
    counters.begin_ns = clock_ns();
    counters.error = read_counter(descriptors_[0], counters.rx_bytes);
    counters.middle_ns = clock_ns();
    if (counters.error == 0)
        counters.error = read_counter(descriptors_[1], counters.tx_bytes);
    counters.end_ns = clock_ns();

    if (counters.error != 0 && !lost_)
        next_attempt_ns_ = counters.end_ns + reopen_every_ns;
    counters.reopened = lost_ && counters.error == 0;
    lost_ = counters.error != 0;
    return counters;
}

} // namespace collectors
