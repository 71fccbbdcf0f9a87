#pragma once

#include <array>
#include <atomic>
#include <string>
#include <string_view>

#include <net/if.h>

namespace collectors {

/// An interface by its number, which stays when somebody gives it another name. Asks the network namespace in
/// which it was made, whatever its thread does later, and takes no lock for which anybody could wait (RTNL).
class InterfaceWatch {
public:
    /// Ends with a zero; no allocation.
    using Name = std::array<char, IFNAMSIZ>;

    /// Watches nothing if there is no such interface, or no socket to ask through.
    explicit InterfaceWatch(std::string_view interface);
    ~InterfaceWatch();
    InterfaceWatch(const InterfaceWatch&) = delete;
    InterfaceWatch& operator=(const InterfaceWatch&) = delete;

    /// 0: nothing is watched.
    unsigned index() const noexcept { return index_.load(std::memory_order_relaxed); }
    /// From now on the interface that has this name; false, and no change, if there is none.
    bool follow(std::string_view interface) noexcept;
    /// True while that is its name.
    bool is_called(std::string_view interface) const noexcept;
    /// The name that it has now; empty if it is gone. May be called on another thread.
    Name name() const noexcept;

private:
    unsigned index_of(std::string_view interface) const noexcept;

    int socket_ = -1;
    std::atomic<unsigned> index_{0};
};

} // namespace collectors
