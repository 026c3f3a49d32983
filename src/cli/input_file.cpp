#include "cli/input_file.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

#include "toml/text_file.h"

namespace guideway {

Result<std::string> read_input(const std::string& path) {
  const auto refuse = [&path] {
    return fail(ErrorKind::invalid,
                "the file cannot be read: " + std::error_code(errno, std::generic_category()).message(), path,
                "check its name and rights");
  };
  const auto close = [](std::FILE* file) {
    if (file != stdin) std::fclose(file);
  };
  const std::unique_ptr<std::FILE, decltype(close)> file(
      path == "-" ? stdin : std::fopen(path.c_str(), "rbe"), close);
  if (!file) return refuse();
  std::string out;
  std::array<char, 65536> part{};
  while (const std::size_t size = std::fread(part.data(), 1, part.size(), file.get())) {
    if (out.size() + size > text_bytes_max) {
      return fail(ErrorKind::invalid, fmt::format("the file is larger than {} bytes", text_bytes_max), path,
                  "is this the right file?");
    }
    out.append(part.data(), size);
  }
  if (std::ferror(file.get()) != 0) return refuse();
  return out;
}

}  // namespace guideway
