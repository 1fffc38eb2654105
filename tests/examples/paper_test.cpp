// The parts of the paper in examples/paper that need no model, in the real program with a few lines more.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "datasets/prepared/prepared.h"
#include "tests/experiments/program.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;

constexpr const char* kPaper = XLM_SOURCE_DIR "/examples/paper";
constexpr const char* kRecipe = XLM_SOURCE_DIR "/examples/paper/experiments/recipes/decaying-attention/decay.yaml";
constexpr int kLines = 400;

class Paper : public testing::Test {
 protected:
  void SetUp() override {
    std::string text;
    for (int i = 0; i < kLines; ++i) text += "line " + std::to_string(1000 + i) + " says it again\n";
    write_file(folder_.path() / "corpus.txt", text + "\n\r\n");
    const ProgramResult prepared = xlm({"prepare-data", "lines", "--from", "corpus.txt", "--out", "data"});
    ASSERT_EQ(prepared.code, 0) << prepared.err;
  }

  ProgramResult xlm(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), XLM_EXAMPLE_BINARY);
    return BackgroundProgram(std::move(arguments), folder_.path()).wait();
  }

  TemporaryFolder folder_;
};

TEST_F(Paper, ItsCorpusIsShuffledLines) {
  const PreparedData data = open_prepared(folder_.path() / "data", true);
  std::string text;
  for (const std::string split : {"train", "valid", "test"}) {
    const TokenFile& tokens = data.split(split).tokens;
    for (std::int64_t i = 0; i < tokens.size(); ++i) {
      text += data.vocabulary.symbols[static_cast<std::size_t>(tokens.at(i))];
    }
  }
  std::vector<std::string> lines = split(text, '\n');
  ASSERT_EQ(lines.back(), "");
  lines.pop_back();
  EXPECT_EQ(lines.size(), static_cast<std::size_t>(kLines));
  EXPECT_FALSE(std::is_sorted(lines.begin(), lines.end()));
  std::sort(lines.begin(), lines.end());
  for (int i = 0; i < kLines; ++i) {
    EXPECT_EQ(lines[static_cast<std::size_t>(i)], "line " + std::to_string(1000 + i) + " says it again");
  }
}

TEST_F(Paper, ItsModelIsListedWithTheOthers) {
  const ProgramResult printed = xlm({"train", kRecipe, "--profile", "smoke", "--print-config", "model.reach=5"});
  ASSERT_EQ(printed.code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("reach: 5"));
  const ProgramResult reference = xlm({"train", "--print-reference"});
  EXPECT_THAT(reference.out, HasSubstr("## `model.type: decaying-attention`"));
  EXPECT_THAT(reference.out, HasSubstr("## `model.type: gpt2`"));
  write_file(folder_.path() / "wrong.yaml",
             "data: {path: data}\nmodel: {type: decaying-attention, heads: 3}\ntrain: {steps: 1}\n");
  const ProgramResult wrong = xlm({"train", "wrong.yaml"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("model.width (256) must be a multiple of model.heads (3)"));
}

TEST_F(Paper, ItsRecipeCanBeFilledInEveryProfile) {
  for (const char* profile : {"smoke", "paper"}) {
    const ProgramResult checked = xlm({"sweep", kRecipe, "--profile", profile, "--check"});
    EXPECT_EQ(checked.code, 0) << checked.out;
    EXPECT_THAT(checked.out, HasSubstr("1 table, 2 figures"));
  }
}

// CONTRIBUTING.md shows what adding the paper costs.
TEST(PaperInTheBook, ItsSizeIsAsCONTRIBUTINGSays) {
  const std::string book = read_file(fs::path(XLM_SOURCE_DIR) / "CONTRIBUTING.md");
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(kPaper)) {
    if (!entry.is_regular_file() || entry.path().extension() == ".md") continue;
    ++files;
    const std::string text = read_file(entry.path());
    const std::string name = fs::relative(entry.path(), kPaper).string();
    const std::size_t at = book.find("\n " + name + " ");
    ASSERT_NE(at, std::string::npos) << name << " is not in CONTRIBUTING.md";
    const std::string row = book.substr(at + 1, book.find('\n', at + 1) - at - 1);
    const std::string lines = std::to_string(std::count(text.begin(), text.end(), '\n'));
    EXPECT_THAT(row, ::testing::ContainsRegex("\\| +" + lines + " \\+"));
  }
  EXPECT_GE(files, 6);
}

}  // namespace
}  // namespace xlm
