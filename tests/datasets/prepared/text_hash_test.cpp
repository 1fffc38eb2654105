// Texts as decoded: the same for every unit, and for nothing else.
#include "datasets/prepared/text_hash.h"

#include "tests/datasets/preparing.h"
#include "tests/datasets/tokens/bpe_files.h"

namespace xlm {
namespace {

class TextHash : public Preparing {
 protected:
  TextHash() {
    write_small_bpe(path("bpe"));
    for (int i = 0; i < 40; ++i) file(fmt::format("books/{}.txt", i), fmt::format("Äiti and book {}\n", i));
  }

  std::map<std::string, std::string> of(const std::string& unit, const std::string& from = "books") {
    PrepareRequest wanted = request("text", {path(from)});
    wanted.unit = unit;
    if (unit == "bpe") wanted.bpe = path("bpe");
    wanted.split = "50%,25%,25%";
    wanted.out = path(from + "-" + unit);
    make(wanted);
    return text_hashes(wanted.out);
  }
};

TEST_F(TextHash, IsOneForAllUnits) {
  const auto hashes = of("character");
  ASSERT_EQ(hashes.size(), 2U);
  EXPECT_NE(hashes.at("valid"), hashes.at("test"));
  EXPECT_EQ(of("byte"), hashes);
  EXPECT_EQ(of("bpe"), hashes);
  EXPECT_EQ(text_hashes(path("books-bpe")), hashes) << "as it was kept";
}

TEST_F(TextHash, DependsOnTheTextAndItsDocuments) {
  const auto hashes = of("byte");
  for (int i = 0; i < 40; ++i) file(fmt::format("others/{}.txt", i), fmt::format("Äiti and hook {}\n", i));
  EXPECT_NE(of("byte", "others").at("valid"), hashes.at("valid"));
  // The same bytes in one document.
  std::string valid;
  const PreparedData data = open_prepared(path("books-byte"));
  for (std::int64_t i = 0; i < data.split("valid").tokens.size(); ++i) {
    valid += data.vocabulary.symbols[static_cast<std::size_t>(data.split("valid").tokens.at(i))];
  }
  file("whole/train.txt", "x");
  file("whole/valid.txt", valid);
  PrepareRequest wanted = request("text", {path("whole")});
  wanted.unit = "byte";
  EXPECT_EQ(text(make(wanted), "valid"), valid);
  EXPECT_NE(text_hashes(wanted.out).at("valid"), hashes.at("valid"));
}

/// The vocabulary is that of training, so other characters of validation are lost.
TEST_F(TextHash, IsUnknownWhereCharactersAre) {
  file("split/train.txt", "abc");
  file("split/valid.txt", "abd");
  file("split/test.txt", "cba");
  PrepareRequest wanted = request("text", {path("split")});
  wanted.unit = "character";
  wanted.vocabulary = "train";
  make(wanted);
  const auto hashes = text_hashes(wanted.out);
  EXPECT_FALSE(hashes.contains("valid"));
  EXPECT_TRUE(hashes.contains("test"));
}

}  // namespace
}  // namespace xlm
