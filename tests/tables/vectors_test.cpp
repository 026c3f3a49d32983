// The golden vectors of contract 1: every case of every file, and the proof of the table of logarithms.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "command/golden_vectors.h"
#include "tables/log2_table.h"

namespace guideway {
namespace {

TEST(Vectors, EveryCaseIsMet) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(GUIDEWAY_VECTORS)) {
    if (entry.path().extension() != ".json") continue;
    ++files;
    const Json file = Json::parse(std::ifstream(entry.path()));
    const std::string kind = file.at("kind");
    EXPECT_FALSE(file.at("cases").empty()) << entry.path();
    for (const Json& c : file.at("cases")) {
      EXPECT_EQ(contract_answer(kind, c.at("input")), c.at("expect"))
          << entry.path().filename() << ": " << c.at("what");
    }
  }
  EXPECT_EQ(files, 5U) << "flow, log2, deal, ranking, rows";
}

// What `guideway table vectors` prints, byte for byte.
TEST(Vectors, TheProgramPrintsTheFiles) {
  std::size_t files = 0;
  for (const VectorQuestions& questions : vector_questions()) {
    EXPECT_EQ(questions.text.find("expect"), std::string_view::npos)
        << "answers are worked out, not built in";
    std::ifstream file(std::string(GUIDEWAY_VECTORS "/") + std::string(questions.kind) + ".json");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(vectors_text(answered(Json::parse(questions.text))), text) << questions.kind;
    ++files;
  }
  EXPECT_EQ(files, 5U);
}

// 2^T <= y^(2^32) < 2^(T+1) for y = 1 + i/1024, told apart by an interval that never rounds the wrong way.
TEST(Log2Table, EveryEntryIsTheExactFloor) {
  for (std::uint64_t i = 0; i < 1024; ++i) {
    const auto digits = log2_digits((1024 + i) << 53);
    ASSERT_TRUE(digits.has_value()) << "entry " << i << " is too close to a whole number to be proved";
    EXPECT_EQ(log2_table[i], *digits) << i;
  }
  EXPECT_EQ(log2_table[0], 0U);
  EXPECT_EQ(log2_table[1024], std::uint64_t{1} << 32);
}

TEST(Log2Table, TheProofRefusesWhatItCannotTell) {
  // The number nearest to 2^(2^-32), whose logarithm has its 33rd digit on the edge: 63 bits do not tell.
  EXPECT_FALSE(log2_digits((std::uint64_t{1} << 63) + 1488522236).has_value());
}

}  // namespace
}  // namespace guideway
