// Fuzz: requests to the API, answered by a director that is only its site. The first byte picks method and path.
#include <nlohmann/json.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "control/api_routes.h"
#include "tests/command/fake_director.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace guideway;
  if (size == 0) return 0;
  FakeDirector director;
  const std::string rest(reinterpret_cast<const char*>(data + 1), size - 1);
  ApiRequest request;
  switch (data[0] % 4) {
    case 0:
      request = {"POST", "/v1/commands", {}, {}, rest};
      break;
    case 1:
      request = {"PUT", "/v1/site", {}, {}, rest};
      break;
    case 2:
      request = {"GET", "/v1/" + rest, {}, {}, {}};
      break;
    case 3:
      request = {"PUT", "/v1/site", {}, rest, "hash_seed = 1\n"};
      break;
  }
  const ApiResponse response =
      answer([&](const Arguments& arguments) { return run_command(director, arguments); }, request);
  if (response.status < 200 || response.status > 599) std::abort();
  // An error is one sentence with its kind, whatever was asked.
  if (response.status >= 400 && !nlohmann::json::parse(response.body).contains("error")) std::abort();
  return 0;
}
