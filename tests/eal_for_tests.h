// EAL for tests: DPDK's environment without hugepages, devices or files, and a pool of mbufs; once a process.
#pragma once

#include <gtest/gtest.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace guideway::testing {

class Eal {
 public:
  static Eal& get() {
    static Eal eal;
    return eal;
  }
  [[nodiscard]] rte_mempool* mbufs() const { return mbufs_; }
  // Mbufs that nobody gave back.
  [[nodiscard]] unsigned in_use() const { return rte_mempool_in_use_count(mbufs_); }

  // An mbuf with these bytes; in several segments when `segment` is smaller than the frame.
  [[nodiscard]] rte_mbuf* make(std::span<const std::uint8_t> bytes, std::size_t segment = 2048,
                               std::uint16_t headroom = RTE_PKTMBUF_HEADROOM) const {
    rte_mbuf* first = nullptr;
    do {
      const std::size_t size = std::min(bytes.size(), segment);
      rte_mbuf* mbuf = rte_pktmbuf_alloc(mbufs_);
      if (first == nullptr) mbuf->data_off = headroom;
      char* to = rte_pktmbuf_append(mbuf, static_cast<std::uint16_t>(size));
      std::memcpy(to, bytes.data(), size);
      bytes = bytes.subspan(size);
      if (first == nullptr) {
        first = mbuf;
      } else {
        rte_pktmbuf_chain(first, mbuf);
      }
    } while (!bytes.empty());
    return first;
  }

  [[nodiscard]] static std::vector<std::uint8_t> bytes(const rte_mbuf* mbuf) {
    std::vector<std::uint8_t> out(mbuf->pkt_len);
    const void* at = rte_pktmbuf_read(mbuf, 0, mbuf->pkt_len, out.data());
    if (at != out.data()) std::memcpy(out.data(), at, out.size());
    return out;
  }

 private:
  Eal() {
    std::vector<std::string> words = {"guideway-tests",
                                      "--file-prefix",
                                      "gw-tests-" + std::to_string(getpid()),
                                      "--no-huge",
                                      "--no-pci",
                                      "--no-shconf",
                                      "-m",
                                      "64",
                                      "--no-telemetry",
                                      "--log-level=error",
                                      "-l",
                                      "0"};
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    if (rte_eal_init(static_cast<int>(words.size()), arguments.data()) < 0) {
      ADD_FAILURE() << "rte_eal_init: " << rte_strerror(rte_errno);
      std::abort();
    }
    rmdir(rte_eal_get_runtime_dir());  // made however little is kept in it
    mbufs_ = rte_pktmbuf_pool_create("tests", 2047, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
    if (mbufs_ == nullptr) {
      ADD_FAILURE() << "no pool of mbufs: " << rte_strerror(rte_errno);
      std::abort();
    }
  }
  rte_mempool* mbufs_ = nullptr;
};

}  // namespace guideway::testing
