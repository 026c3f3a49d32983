#include "control/api_peer.h"

#include <grp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59
#endif

namespace guideway {
namespace {

constexpr const char* group_name = "guideway";

// The peer's supplementary groups as they were when it connected.
std::vector<gid_t> groups_of(int socket) {
  std::vector<gid_t> groups(64);
  auto size = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
  if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &size) != 0) {
    if (errno != ERANGE) return {};
    groups.resize(size / sizeof(gid_t));
    if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &size) != 0) return {};
  }
  groups.resize(size / sizeof(gid_t));
  return groups;
}

}  // namespace

std::optional<gid_t> api_group() {
  group entry{};
  group* found = nullptr;
  std::vector<char> memory(16384);
  if (getgrnam_r(group_name, &entry, memory.data(), memory.size(), &found) != 0 || found == nullptr) {
    return std::nullopt;
  }
  return found->gr_gid;
}

std::string peer_text(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return "an unknown process";
  return "uid " + std::to_string(peer.uid) + ", pid " + std::to_string(peer.pid);
}

bool peer_may_ask(int socket, std::optional<gid_t> group) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  if (peer.uid == 0 || peer.uid == geteuid()) return true;
  if (!group) return false;
  const std::vector<gid_t> groups = groups_of(socket);
  return peer.gid == *group || std::find(groups.begin(), groups.end(), *group) != groups.end();
}

}  // namespace guideway
