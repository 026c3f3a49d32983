#include "state/device_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "state/interface_name.h"

namespace guideway {
namespace {

using Kind = Device::Kind;

constexpr std::array<std::pair<std::string_view, Kind>, 6> schemes{{{"af_packet", Kind::af_packet},
                                                                    {"af_xdp", Kind::af_xdp},
                                                                    {"tap", Kind::tap},
                                                                    {"pcap", Kind::pcap},
                                                                    {"pcap_loop", Kind::pcap_loop},
                                                                    {"ring", Kind::ring}}};

constexpr std::string_view forms =
    "use a PCI address like \"0000:3b:00.0\", \"af_packet:eth1\", \"af_xdp:eth1\", \"tap:gw0\", "
    "\"pcap:in.pcap,out.pcap\", \"pcap_loop:in.pcap\", \"ring:NAME\" or \"null\"";

// DDDD:BB:DD.F in hex.
bool is_pci(std::string_view text) {
  constexpr std::string_view shape = "hhhh:hh:hh.h";
  return text.size() == shape.size() &&
         std::equal(text.begin(), text.end(), shape.begin(), [](char c, char wanted) {
           const bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
           return wanted == 'h' ? hex : c == wanted;
         });
}

bool is_file(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

tl::unexpected<Error> bad(std::string what, std::string_view next) {
  return fail(ErrorKind::invalid, std::move(what), {}, std::string(next));
}

Result<Device> parse_scheme(Kind kind, std::string_view argument) {
  if (kind == Kind::pcap) {
    const std::size_t comma = argument.find(',');
    const std::string_view in = argument.substr(0, comma);
    const std::string_view out =
        comma == std::string_view::npos ? std::string_view{} : argument.substr(comma + 1);
    if (!is_file(in) || (comma != std::string_view::npos && (!is_file(out) || out.find(',') != out.npos)))
      return bad("the pcap device names no files", "write it like \"pcap:in.pcap,out.pcap\"");
    if (in == out) return bad("the pcap device reads and writes the same file", "name two files");
    return Device{kind, std::string(in), std::string(out)};
  }
  if (kind == Kind::pcap_loop) {
    if (is_file(argument) && argument.find(',') == argument.npos)
      return Device{kind, std::string(argument), {}};
    return bad("the pcap_loop device names no file, or more than one",
               "write it like \"pcap_loop:in.pcap\"; what leaves there is gone");
  }
  if (!is_interface_name(argument))
    return bad("the device's interface or name is missing or wrong",
               "use 1 to 15 letters, digits, '.', '_' and '-' behind the colon");
  return Device{kind, std::string(argument), {}};
}

}  // namespace

std::string Device::identity() const {
  switch (kind) {
    case Kind::pci:
      return argument;
    case Kind::af_packet:
    case Kind::af_xdp:
      return "interface " + argument;
    case Kind::tap:
      return "tap:" + argument;
    case Kind::pcap:
    case Kind::pcap_loop:
      return "pcap:" + argument;
    case Kind::ring:
      return "ring:" + argument;
    case Kind::null_:
      break;
  }
  return "null";
}

Result<Device> parse_device(std::string_view text) {
  if (text == "null") return Device{};
  if (is_pci(text)) {
    std::string address(text);
    std::transform(address.begin(), address.end(), address.begin(),
                   [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c; });
    return Device{Kind::pci, std::move(address), {}};
  }
  const std::size_t colon = text.find(':');
  for (const auto& [scheme, kind] : schemes)
    if (colon != std::string_view::npos && text.substr(0, colon) == scheme)
      return parse_scheme(kind, text.substr(colon + 1));
  return bad("the device is of no known form", forms);
}

}  // namespace guideway
