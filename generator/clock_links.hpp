#pragma once

#include "collectors/file_descriptor.hpp"
#include "generator/clock_offset.hpp"
#include "generator/transport.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace generator {

/// Connections over the data network on which rank 0 asks one rank of each other host what its clock shows.
/// A thread of that rank waits on the socket and answers, whatever the rank does; nothing is sent between two
/// measurements.
class ClockLinks {
public:
    /// Opens them, and waits for the others to do so. `answering`: those who answer; on rank 0 and on them
    /// only. They listen on their port of `endpoints` again. Throws as `connect_peers`.
    ClockLinks(int self, const std::vector<int>& answering, const std::vector<Endpoint>& endpoints,
               const ConnectSettings& settings);
    ~ClockLinks();
    ClockLinks(const ClockLinks&) = delete;
    ClockLinks& operator=(const ClockLinks&) = delete;

    /// On rank 0: by rank, of those that answered. Each takes 200 ms at most; one that does not answer within
    /// 100 ms is never asked again. `go_on` is asked before each.
    std::map<int, ClockOffset> measure(const std::function<bool()>& go_on);

private:
    std::map<int, collectors::FileDescriptor> asked_; ///< on rank 0
    collectors::FileDescriptor answered_;             ///< on the others
    std::jthread answering_;
};

} // namespace generator
