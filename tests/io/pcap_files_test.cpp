// Pcap files: which captures a port may have, before the driver looks at them.
#include "io/pcap_files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace guideway {
namespace {

// The start of a pcap file of a link type.
std::string capture(char link_type) {
  return std::string("\xd4\xc3\xb2\xa1\x02\x00\x04\x00", 8) + std::string(8, '\0') +
         std::string("\xff\xff\x00\x00", 4) + std::string({link_type, 0, 0, 0});
}

// A directory with captures of all kinds, which goes with the test.
class PcapFiles : public ::testing::Test {
 protected:
  PcapFiles() : home_(::testing::TempDir() + fmt::format("gw-pcap-{}", getpid())) {
    std::filesystem::create_directory(home_);
    write("good.pcap", capture(1));
    write("other.pcap", capture(1));
    write("raw.pcap", capture(101));
    write("text.pcap", "this is no capture, and never was one");
    write("empty.pcap", "");
    write("old-out.pcap", "what an earlier run wrote");
    std::filesystem::create_symlink(home_ + "/good.pcap", home_ + "/link.pcap");
  }
  ~PcapFiles() override { std::filesystem::remove_all(home_); }

  void write(const std::string& name, const std::string& content) const {
    std::ofstream(home_ + "/" + name, std::ios::binary) << content;
  }
  // What is said of ports on these devices, '@' being the directory; empty: nothing.
  std::string said_of(const std::vector<std::string>& devices) const {
    std::vector<PortConfig> ports;
    for (auto device : devices) {
      for (std::size_t at = 0; (at = device.find('@', at)) != std::string::npos;)
        device.replace(at, 1, home_);
      PortConfig port;
      port.name = fmt::format("p{}", ports.size());
      port.device = device;
      ports.push_back(port);
    }
    const auto checked = check_pcap_files(ports);
    if (checked) return {};
    auto text = checked.error().text();
    for (std::size_t at = 0; (at = text.find(home_, at)) != std::string::npos;)
      text.replace(at, home_.size(), "@");
    return text;
  }

  std::string home_;
};

TEST_F(PcapFiles, WhatCannotBeOpenedIsSaidBeforeTheDriverTries) {
  struct Case {
    const char* description;
    std::vector<std::string> devices;
    const char* said;
  };
  const Case cases[] = {
      {"a capture, no output", {"pcap:@/good.pcap"}, ""},
      {"a new output", {"pcap:@/good.pcap,@/new.pcap"}, ""},
      {"an output that is written over", {"pcap:@/good.pcap,@/old-out.pcap"}, ""},
      {"the output thrown away, twice", {"pcap:@/good.pcap,/dev/null", "pcap:@/other.pcap,/dev/null"}, ""},
      {"other devices are not looked at", {"null", "af_packet:nosuch"}, ""},
      {"a capture without end", {"pcap_loop:@/good.pcap"}, ""},
      {"no capture, without end",
       {"pcap_loop:@/nosuch.pcap"},
       "port p0 (pcap_loop:@/nosuch.pcap): @/nosuch.pcap cannot be read: No such file or directory; write "
       "the "
       "whole path of a file that guidewayd may read"},
      {"no such capture",
       {"null", "pcap:@/nosuch.pcap"},
       "port p1 (pcap:@/nosuch.pcap): @/nosuch.pcap cannot be read: No such file or directory; write the "
       "whole path of a "
       "file that guidewayd may read"},
      {"a directory", {"pcap:@"}, "port p0 (pcap:@): @ cannot be read: it is no file; name a capture"},
      {"no capture",
       {"pcap:@/text.pcap"},
       "port p0 (pcap:@/text.pcap): @/text.pcap cannot be read: it is no capture (unknown file format); give "
       "it a pcap or "
       "pcapng file, not compressed"},
      {"an empty file",
       {"pcap:@/empty.pcap"},
       "port p0 (pcap:@/empty.pcap): @/empty.pcap cannot be read: it is no capture (truncated dump file; "
       "tried to read 4 "
       "file header bytes, only got 0); give it a pcap or pcapng file, not compressed"},
      {"another link type",
       {"pcap:@/raw.pcap"},
       "port p0 (pcap:@/raw.pcap): @/raw.pcap cannot be read: its link type is RAW; use a capture of "
       "Ethernet frames"},
      {"an output in no directory",
       {"pcap:@/good.pcap,@/none/out.pcap"},
       "port p0 (pcap:@/good.pcap,@/none/out.pcap): @/none/out.pcap cannot be written: its directory @/none: "
       "No such file "
       "or directory; name a file in a directory that is there and that guidewayd may write to"},
      {"an output that is a directory",
       {"pcap:@/good.pcap,@"},
       "port p0 (pcap:@/good.pcap,@): @ cannot be written: it is a directory; name a file in it"},
      {"read and written under two names",
       {"pcap:@/good.pcap,@/link.pcap"},
       "port p0 (pcap:@/good.pcap,@/link.pcap): @/link.pcap cannot be used: port p0 has it already; name a "
       "file of its own "
       "for each"},
      {"written by one port and read by another",
       {"pcap:@/good.pcap,@/other.pcap", "pcap:@/./other.pcap"},
       "port p1 (pcap:@/./other.pcap): @/./other.pcap cannot be used: port p0 has it already; name a file of "
       "its own for "
       "each"},
      {"written by two ports",
       {"pcap:@/good.pcap,@/new.pcap", "pcap:@/other.pcap,@/new.pcap"},
       "port p1 (pcap:@/other.pcap,@/new.pcap): @/new.pcap cannot be used: port p0 has it already; name a "
       "file of its own "
       "for each"},
  };
  for (const auto& one : cases) EXPECT_EQ(said_of(one.devices), one.said) << one.description;
  EXPECT_FALSE(std::filesystem::exists(home_ + "/new.pcap")) << "looking made a file";
  EXPECT_EQ(std::filesystem::file_size(home_ + "/old-out.pcap"), 25U) << "looking cut a file";
}

TEST_F(PcapFiles, WhatMayNotBeOpenedIsSaidToo) {
  write("secret.pcap", capture(1));
  chmod((home_ + "/secret.pcap").c_str(), 0600);
  chmod(home_.c_str(), 0755);
  const auto self = geteuid();
  if (self == 0 && seteuid(65534) != 0) GTEST_SKIP() << "skipped: cannot become somebody else";
  if (self != 0) {
    chmod((home_ + "/secret.pcap").c_str(), 0);
    chmod(home_.c_str(), 0555);
  }
  const auto in = said_of({"pcap:@/secret.pcap"}), out = said_of({"pcap:@/good.pcap,@/new.pcap"}),
             over = said_of({"pcap:@/good.pcap,@/secret.pcap"});
  const bool back = self != 0 || seteuid(self) == 0;
  ASSERT_TRUE(back);
  chmod(home_.c_str(), 0755);
  EXPECT_EQ(in,
            "port p0 (pcap:@/secret.pcap): @/secret.pcap cannot be read: Permission denied; write the whole "
            "path of a "
            "file that guidewayd may read");
  EXPECT_EQ(out,
            "port p0 (pcap:@/good.pcap,@/new.pcap): @/new.pcap cannot be written: its directory @: "
            "Permission denied; "
            "name a file in a directory that is there and that guidewayd may write to");
  EXPECT_EQ(over,
            "port p0 (pcap:@/good.pcap,@/secret.pcap): @/secret.pcap cannot be written: Permission denied; "
            "name a file "
            "that guidewayd may write");
}

}  // namespace
}  // namespace guideway
