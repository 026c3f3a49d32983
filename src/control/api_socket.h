// API socket: the unix socket that the API listens on.
// What: bound with mode 0660 and the group "guideway" where it exists; one daemon a path, held by a lock beside it.
// Why:  a socket file that a killed daemon left is taken over, one that answers never is.
#pragma once

#include <string>

#include "guideway/result.h"

namespace guideway {

class ApiSocket {
 public:
  // Refuses a path on which another daemon answers, and anything there that is no socket. Makes the last directory
  // of the path where it is missing.
  [[nodiscard]] static Result<ApiSocket> open(const std::string& path);
  ApiSocket(ApiSocket&& other) noexcept;
  ApiSocket& operator=(ApiSocket&& other) noexcept;
  ~ApiSocket();  // closes it and removes the file

  [[nodiscard]] int descriptor() const { return socket_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  ApiSocket(std::string path, int socket, int lock) : path_(std::move(path)), socket_(socket), lock_(lock) {}
  void close();

  std::string path_;
  int socket_ = -1;
  int lock_ = -1;
};

}  // namespace guideway
