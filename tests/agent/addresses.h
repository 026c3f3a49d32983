// Addresses: who is who in the frames of the program tests.
// What: a client and a service address of each family; kernel.h puts both on the test's loopback.
#pragma once

#include <string>

namespace guideway::agent::test {

inline const std::string client = "198.51.100.7", service = "203.0.113.10";
inline const std::string client6 = "2001:db8:7::7", service6 = "2001:db8:100::10";

}  // namespace guideway::agent::test
