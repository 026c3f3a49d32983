#include "command/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "guideway/name.h"
#include "state/duration.h"
#include "toml/near_match.h"

namespace guideway {
namespace {

tl::unexpected<Error> wrong(std::string what, std::string next) {
  return fail(ErrorKind::usage, std::move(what), {}, std::move(next));
}

std::optional<std::uint64_t> digits(std::string_view text, int base = 10) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::uint16_t> port(std::string_view text) {
  const auto value = digits(text);
  if (!value || *value == 0 || *value > 65535) return std::nullopt;
  return static_cast<std::uint16_t>(*value);
}

Result<void> check_name(std::string_view text) {
  if (is_name(text)) return {};
  return wrong(fmt::format("\"{}\" is no name", text),
               "names have 1 to 63 letters, digits, dots, underscores or dashes");
}

std::vector<std::string> choices_of(std::string_view list) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t bar = std::min(list.find('|', at), list.size());
    out.emplace_back(list.substr(at, bar - at));
    at = bar + 1;
  }
  return out;
}

Result<void> check_word(const Parameter& parameter, std::string_view text) {
  const std::vector<std::string> choices = choices_of(parameter.value);
  if (std::find(choices.begin(), choices.end(), text) != choices.end()) return {};
  return wrong(fmt::format("\"{}\" is not known here", text), "use " + some_of(choices));
}

template <class T>
Result<void> only_check(Result<T> value) {
  if (!value) return tl::unexpected<Error>(std::move(value.error()));
  return {};
}

}  // namespace

Result<IpAddress> address_value(std::string_view text) {
  if (const auto address = IpAddress::parse(text)) return *address;
  return wrong(fmt::format("\"{}\" is no IP address", text), "write 10.0.1.11 or fd00::11");
}

Result<Prefix> prefix_value(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto address = address_value(text.substr(0, slash));
  if (!address) return tl::unexpected<Error>(address.error());
  const auto bits = static_cast<std::uint8_t>(address->size() * 8);
  if (slash == std::string_view::npos) return Prefix{*address, bits};
  const auto length = parse_prefix_length(text.substr(slash + 1), address->family);
  if (!length) {
    return wrong(fmt::format("\"{}\" is no prefix", text), fmt::format("its length is 0 to {}", bits));
  }
  return Prefix{*address, *length};
}

Result<Endpoint> endpoint_value(std::string_view text) {
  const auto refuse = [&] {
    return wrong(fmt::format("\"{}\" is no address with a port", text),
                 "write 198.51.100.7:40000 or [2001:db8::7]:40000");
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return refuse();
  std::string_view host = text.substr(0, colon);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  const auto address = IpAddress::parse(host);
  const auto number = digits(text.substr(colon + 1));
  if (!address || !number || *number > 65535 || bracketed != (address->family == Family::ipv6))
    return refuse();
  return Endpoint{*address, static_cast<std::uint16_t>(*number)};
}

Result<std::vector<PortRange>> ports_value(std::string_view text) {
  std::vector<PortRange> out;
  if (text == "any") return out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string_view part = text.substr(at, comma - at);
    const std::size_t dash = part.find('-');
    const auto first = port(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : port(part.substr(dash + 1));
    if (!first || !last || *first > *last) {
      return wrong(fmt::format("\"{}\" is no list of ports", text), "write 80,443,8000-8099 or any");
    }
    out.push_back({*first, *last});
    at = comma + 1;
  }
  std::sort(out.begin(), out.end());
  for (std::size_t i = 1; i < out.size(); ++i) {
    if (out[i].first <= out[i - 1].last) {
      return wrong(fmt::format("port {} stands twice in \"{}\"", out[i].first, text), "name each port once");
    }
  }
  return out;
}

Result<std::uint32_t> weight_value(std::string_view text) {
  const auto value = digits(text);
  if (!value) return wrong(fmt::format("\"{}\" is no weight", text), "use a whole number from 1 to 65535");
  if (*value == 0) {
    return wrong("weight 0 is no weight", "use `backend drain POOL NAME` to take a backend out of service");
  }
  if (*value > weight_max) {
    return wrong(fmt::format("weight {} is above {}", *value, weight_max), "use a weight from 1 to 65535");
  }
  return static_cast<std::uint32_t>(*value);
}

Result<std::uint64_t> number_value(std::string_view text) {
  if (const auto value = digits(text)) return *value;
  return wrong(fmt::format("\"{}\" is no number", text), "use a whole number, 0 or more");
}

Result<std::uint64_t> seed_value(std::string_view text) {
  const bool hex = text.starts_with("0x");
  if (const auto value = hex ? digits(text.substr(2), 16) : digits(text)) return *value;
  return wrong(fmt::format("\"{}\" is no seed", text), "use 64 bits as a number or as 0x and hex digits");
}

Result<std::chrono::milliseconds> duration_value(std::string_view text) {
  if (const auto span = parse_duration(text)) return *span;
  return wrong(fmt::format("\"{}\" is no duration", text), "write 500ms, 30s, 2m or 1h");
}

Result<HealthCheck> check_value(std::string_view text) {
  HealthCheck check;
  if (text == "none") return check;
  const std::size_t colon = text.find(':');
  const std::string_view type = text.substr(0, colon);
  const std::string_view rest = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  const auto number = port(rest.substr(0, slash));
  const bool http = type == "http";
  if (!number || (!http && type != "tcp") || (!http && slash != rest.size())) {
    return wrong(fmt::format("\"{}\" is no health check", text), "write tcp:80, http:8080/healthz or none");
  }
  check.type = http ? HealthCheckType::http : HealthCheckType::tcp;
  check.port = *number;
  if (slash != rest.size()) check.path = rest.substr(slash);
  return check;
}

std::string hex64(std::uint64_t value) { return fmt::format("0x{:016x}", value); }

Result<void> validate(const Parameter& parameter, std::string_view text) {
  switch (parameter.kind) {
    case Kind::pool:
    case Kind::backend:
    case Kind::service:
    case Kind::new_name:
      return check_name(text);
    case Kind::address:
      return only_check(address_value(text));
    case Kind::prefix:
      return only_check(prefix_value(text));
    case Kind::ports:
      return only_check(ports_value(text));
    case Kind::endpoint:
      return only_check(endpoint_value(text));
    case Kind::weight:
      return only_check(weight_value(text));
    case Kind::number:
      return only_check(number_value(text));
    case Kind::seed:
      return only_check(seed_value(text));
    case Kind::duration:
      return only_check(duration_value(text));
    case Kind::check:
      return only_check(check_value(text));
    case Kind::word:
      return check_word(parameter, text);
    case Kind::flag:
    case Kind::text:
    case Kind::file:
    case Kind::command:
      break;
  }
  return {};
}

}  // namespace guideway
