#include "tables/algorithms/md5.h"

#include <sys/types.h>
// After sys/types.h, whose u_int names it needs.
#include <md5.h>

namespace guideway {

Md5Digest md5(std::string_view bytes) {
  MD5_CTX context;
  Md5Digest digest{};
  MD5Init(&context);
  MD5Update(&context, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  MD5Final(digest.data(), &context);
  return digest;
}

}  // namespace guideway
