#pragma once

#include "generator/socket_state.hpp"

namespace generator {

/// Sets what the profile asks for on a TCP socket that is not connected yet; what it does not ask for is left
/// to the kernel. Throws UserError that names this host: a congestion control that this kernel does not have
/// (with those it has), or one that this user may not set; std::system_error for the rest.
void apply(const SocketSettings& settings, int descriptor);

/// What holds, as the kernel says: of a socket that sends, and of one that receives (-1: none).
SocketState socket_state(int sending, int receiving);

} // namespace generator
