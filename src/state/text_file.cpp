#include "state/text_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace guideway {

Result<std::string> read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return fail(ErrorKind::invalid, fmt::format("cannot be opened ({})", std::strerror(errno)), path,
                "check the path and its permissions");
  std::string text;
  std::string chunk(1U << 16, '\0');
  while (file.read(chunk.data(), static_cast<std::streamsize>(chunk.size())), file.gcount() > 0) {
    text.append(chunk, 0, static_cast<std::size_t>(file.gcount()));
    if (text.size() > text_bytes_max)
      return fail(ErrorKind::invalid, fmt::format("the file has more than {} bytes", text_bytes_max), path,
                  "check that it is the right file");
  }
  if (file.bad() || !file.eof())
    return fail(ErrorKind::invalid, fmt::format("cannot be read ({})", std::strerror(errno)), path,
                "check that it is a file");
  return text;
}

}  // namespace guideway
