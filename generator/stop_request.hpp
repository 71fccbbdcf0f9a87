#pragma once

namespace generator {

/// SIGINT, SIGTERM and SIGHUP as a request to end the run in good order. Only one object at a time.
class StopRequest {
public:
    /// Installs the handlers. Throws std::system_error.
    StopRequest();
    ~StopRequest();
    StopRequest(const StopRequest&) = delete;
    StopRequest& operator=(const StopRequest&) = delete;

    int descriptor() const; ///< readable once a signal has come
    int signal() const;     ///< the first one that came, 0: none yet
};

} // namespace generator
