// Text files: bytes as they are; a pipe serves as well, and one that keeps silent is not waited for.
#include "toml/text_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "tests/state/scratch_directory.h"

namespace guideway {
namespace {

using namespace std::chrono_literals;

TEST(TextFile, IsReadAsItIs) {
  const ScratchDirectory directory;
  const std::string path = directory.path() / "file",
                    text = std::string("a\0\r\n", 4) + std::string(200'000, 'x');
  std::ofstream(path, std::ios::binary) << text;
  EXPECT_EQ(*read_text(path), text);
  EXPECT_EQ(*read_text("/dev/null"), "");
}

TEST(TextFile, APipeIsReadToItsEnd) {
  const ScratchDirectory directory;
  const std::string path = directory.path() / "pipe", text(300'000, 'y');
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] {
    std::ofstream pipe(path, std::ios::binary);
    pipe << text.substr(0, 100'000) << std::flush;
    std::this_thread::sleep_for(50ms);
    pipe << text.substr(100'000);
  });
  const auto read = read_text(path, 30s);
  writer.join();
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(*read, text);
}

TEST(TextFile, WhatCannotBeReadIsSaid) {
  const ScratchDirectory directory;
  const std::string pipe = directory.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const struct {
    std::string path, says;
  } cases[] = {
      {pipe, "nothing came out of it for 0.02 s; name a file, or a pipe that somebody writes to"},
      {directory.path(), "cannot be read (Is a directory); check that it is a file"},
      {directory.path() / "none", "cannot be opened (No such file or directory)"},
      {"/dev/zero", "the file has more than 67108864 bytes"},
  };
  for (const auto& one : cases) {
    const auto read = read_text(one.path, 20ms);
    ASSERT_FALSE(read) << one.path;
    EXPECT_NE(read.error().text().find(one.says), std::string::npos) << read.error().text();
  }
}

}  // namespace
}  // namespace guideway
