// The paper in examples/paper from its corpus to its table and figures, by the real program with a few lines more.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/text.h"
#include "tests/experiments/program.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

constexpr const char* kPaperRecipe = XLM_SOURCE_DIR "/examples/paper/experiments/recipes/decaying-attention/decay.yaml";

class ExamplePaper : public testing::Test {
 protected:
  void SetUp() override {
    std::string text;
    for (int i = 0; i < 400; ++i) text += "line " + std::to_string(1000 + i) + " says it again\n";
    write_file(folder_.path() / "corpus.txt", text);
    const ProgramResult prepared = xlm({"prepare-data", "lines", "--from", "corpus.txt", "--out", "data"});
    ASSERT_EQ(prepared.code, 0) << prepared.err;
  }

  ProgramResult xlm(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), XLM_EXAMPLE_BINARY);
    return BackgroundProgram(std::move(arguments), folder_.path()).wait();
  }

  TemporaryFolder folder_;
};

/// The rows of every grid of a name in a run's journal.
std::vector<Json> grids_of(const fs::path& run, const std::string& name) {
  std::vector<Json> grids;
  for (const std::string& line : split(read_file(run / "journal.jsonl"), '\n')) {
    if (line.empty()) continue;
    const Json record = parse_json(line, "journal");
    if (record.value("name", "") == name) grids.push_back(record.at("rows"));
  }
  return grids;
}

TEST_F(ExamplePaper, ItsSweepGivesItsTableAndItsFigures) {
  const ProgramResult sweep = xlm(
      {"sweep", kPaperRecipe, "--profile", "smoke", "data.path=data", "device=cpu", "train.threads=1", "--jobs", "1"});
  ASSERT_EQ(sweep.code, 0) << sweep.err;
  EXPECT_THAT(sweep.out, testing::HasSubstr("4 of 4 runs done"));

  const ProgramResult table = xlm({"table", kPaperRecipe, "--profile", "smoke", "--format", "csv"});
  ASSERT_EQ(table.code, 0) << table.err;
  EXPECT_THAT(table.out, testing::HasSubstr("fixed"));
  EXPECT_THAT(table.out, testing::HasSubstr("learnt"));

  const ProgramResult figure =
      xlm({"figure", kPaperRecipe, "--profile", "smoke", "--name", "bpc", "--out", "bpc.html"});
  ASSERT_EQ(figure.code, 0) << figure.err;
  EXPECT_THAT(read_file(folder_.path() / "bpc.html"), testing::HasSubstr("data-figure"));

  // The model's report on its heads: fixed ones are as given, learnt ones have moved.
  int runs = 0;
  Json learnt;  // the grid at the end of the run that the figure shows
  for (const auto& entry : fs::directory_iterator(folder_.path() / "runs")) {
    if (!fs::exists(entry.path() / "journal.jsonl")) continue;
    ++runs;
    const std::string config = read_file(entry.path() / "config.yaml");
    const double reach = config.find("reach: 16") != std::string::npos ? 16 : 4;
    const std::vector<Json> grids = grids_of(entry.path(), "half_distances");
    ASSERT_FALSE(grids.empty());
    ASSERT_EQ(grids.back().size(), 2U);
    ASSERT_EQ(grids.back()[0].size(), 4U);
    const double moved = std::abs(grids.back()[0][3].get<double>() - reach);
    const bool learns = config.find("decay: learnt") != std::string::npos;
    EXPECT_EQ(moved > 1e-3, learns) << moved;
    if (learns && reach == 16) learnt = grids.back();
  }
  EXPECT_EQ(runs, 4);

  // The figure of that grid shows its numbers, on a logarithmic scale.
  const ProgramResult halves =
      xlm({"figure", kPaperRecipe, "--profile", "smoke", "--name", "half-distances", "--out", "halves.html"});
  ASSERT_EQ(halves.code, 0) << halves.err;
  const std::string page = read_file(folder_.path() / "halves.html");
  const std::string cells = "\"z\":";
  const std::size_t begin = page.find(cells);
  ASSERT_NE(begin, std::string::npos);
  const Json shown =
      parse_json(page.substr(begin + cells.size(), page.find("]]", begin) + 2 - begin - cells.size()), "z");
  ASSERT_EQ(shown.size(), 2U);
  for (std::size_t layer = 0; layer < 2; ++layer) {
    ASSERT_EQ(shown[layer].size(), 4U);
    for (std::size_t head = 0; head < 4; ++head) {
      EXPECT_NEAR(std::pow(10, shown[layer][head].get<double>()), learnt[layer][head].get<double>(), 1e-4)
          << layer << ' ' << head;
    }
  }
}

}  // namespace
}  // namespace xlm
