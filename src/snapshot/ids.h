// Ids: small numbers that name backends, services, pools and ports between control and the data plane.
// Why:  a backend id goes into flow-table entries, so it is never reused while an entry can hold it
//       (state/backend_ids hands them out with a quarantine).
#pragma once

#include <cstddef>
#include <cstdint>

namespace guideway {

enum class BackendId : std::uint32_t {};  // 0 .. backend_ids_max-1; fits the 20 low bits of a flow word
enum class ServiceId : std::uint32_t {};  // 0 .. service_ids_max-1
enum class PoolId : std::uint32_t {};
enum class Epoch : std::uint64_t {};

inline constexpr std::size_t backend_ids_max = 1U << 20;
inline constexpr std::size_t service_ids_max = 1U << 16;
inline constexpr BackendId no_backend{backend_ids_max - 1};  // never handed out
inline constexpr ServiceId no_service{service_ids_max};

template <class Id>
[[nodiscard]] constexpr std::size_t to_index(Id id) {
  return static_cast<std::size_t>(id);
}

}  // namespace guideway
