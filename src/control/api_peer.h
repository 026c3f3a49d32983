// API peer: whether the process at the other end of the socket may ask.
// What: root, our own user, and members of the group "guideway" (also by a supplementary group) may.
// Why:  the socket's mode says the same; this holds also where somebody widened it, and it never trusts a header.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace guideway {

// The group that may ask besides root; nullopt where the host has none.
[[nodiscard]] std::optional<gid_t> api_group();
// `socket` is connected. Any thread.
// Who it is, for the log: "uid 0, pid 712".
[[nodiscard]] std::string peer_text(int socket);
[[nodiscard]] bool peer_may_ask(int socket, std::optional<gid_t> group);

}  // namespace guideway
