// Sweeps of real models on a real Slurm: the commands of docs/clusters.md, and jobs with too little memory.
#include <map>
#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"
#include "tests/experiments/program.h"
#include "tests/experiments/slurm_fixture.h"
#include "tests/needs.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class SlurmTestSweep : public testing::Test {
 protected:
  void SetUp() override {
    if (LocalSlurm::starter().empty()) GTEST_SKIP() << needs::kSlurm;
    slurm_.start(8, 2);
    std::string text;
    for (int i = 0; i < 900; ++i) text += fmt::format("line {} of a text that says it again\n", i * i % 1009);
    fs::create_directory(folder_.path() / "notes");
    write_file(folder_.path() / "notes/a.txt", text);
    ASSERT_EQ(xlm("prepare-data text --from notes --out data/notes").code, 0);
  }

  void TearDown() override { slurm_.stop(); }

  /// The program with arguments as a shell splits them.
  ProgramResult xlm(const std::string& arguments) const {
    return shell(folder_.path(), "'" XLM_BINARY "' " + arguments);
  }

  /// The folders of a folder of runs, by id.
  std::map<std::string, fs::path> runs_in(const std::string& folder) const {
    std::map<std::string, fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder_.path() / folder)) {
      const std::string name = entry.path().filename().string();
      if (name.front() != '.' && fs::exists(entry.path() / "journal.jsonl")) found[name] = entry.path();
    }
    return found;
  }

  /// The hash of each run's weights, by id.
  std::map<std::string, std::string> weights(const std::string& folder) const {
    std::map<std::string, std::string> hashes;
    for (const auto& [id, run] : runs_in(folder)) hashes[id] = sha256_file(run / "model/model.safetensors");
    return hashes;
  }

  static std::vector<Json> journal_of(const fs::path& run) {
    std::vector<Json> records;
    for (const std::string& line : split(read_file(run / "journal.jsonl"), '\n')) {
      if (!line.empty()) records.push_back(parse_json(line, "journal"));
    }
    return records;
  }

  TemporaryFolder folder_;
  LocalSlurm slurm_{folder_.path()};
};

/// The code block of a page that follows some words.
std::string documented_block(const std::string& words) {
  const std::string page = read_file(fs::path(XLM_SOURCE_DIR) / "docs/clusters.md");
  const std::size_t at = page.find(words);
  EXPECT_NE(at, std::string::npos) << words;
  const std::size_t from = page.find('\n', page.find("\n```", at) + 1) + 1;
  return page.substr(from, page.find("\n```", from) + 1 - from);
}

TEST_F(SlurmTestSweep, TheCommandsOfTheDocsGiveTheTableOfALocalSweepAndTheSameBits) {
  write_file(folder_.path() / "spans.yaml", documented_block("A sweep, `spans.yaml`"));
  ASSERT_EQ(xlm("sweep --print-site > site.yaml").code, 0);
  ::setenv("XLM_SITE", (folder_.path() / "site.yaml").c_str(), 1);
  const ProgramResult asked = xlm("sweep spans.yaml --launcher slurm --jobs 4 --dry-run");
  EXPECT_EQ(asked.code, 0) << asked.err;
  EXPECT_THAT(asked.out, AllOf(HasSubstr("#SBATCH --array=0-3\n"), HasSubstr("nothing was written or submitted")));
  const ProgramResult submitted = xlm("sweep spans.yaml --launcher slurm --jobs 4");
  EXPECT_EQ(submitted.code, 0) << submitted.err;
  EXPECT_THAT(submitted.out, HasSubstr("4 workers in partition main"));
  const ProgramResult watched = xlm("runs watch spans.yaml --once");
  EXPECT_EQ(watched.code, 0) << watched.err;
  const ProgramResult done = xlm("sweep spans.yaml --launcher slurm --jobs 4 --wait");
  ::unsetenv("XLM_SITE");
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("8 of 8 runs done"));
  LocalSlurm::until([&] { return slurm_.jobs().empty(); });

  ASSERT_EQ(xlm("sweep spans.yaml --jobs 2 --runs local").code, 0);
  EXPECT_EQ(weights("runs").size(), 8U);
  EXPECT_EQ(weights("runs"), weights("local"));
  const ProgramResult table = xlm("table spans.yaml");
  EXPECT_EQ(table.code, 0) << table.err;
  static const std::regex row("\nadaptive +[0-9.]+ ± [0-9.]+ +[0-9.]+ ± [0-9.]+\n");
  EXPECT_TRUE(std::regex_search(table.out, row)) << table.out;
  EXPECT_EQ(table.out, xlm("table spans.yaml --runs local").out);
}

/// A model whose memory is mostly activations, so that fewer rows at once need less.
constexpr const char* kWide =
    "experiment: wide\ndata: {path: data/notes}\ndevice: cpu\n"
    "model: {type: adaptive-span, width: 128, heads: 4, feed_forward: 256, layers: 3, span: 128, dropout: 0}\n"
    "train: {steps: 3, batch: 64, block: 256, threads: 1}\nresources: {cpus: 1, time: 10min}\n"
    "sweep: {grid: {seed: [1, 2]}}\n";

class SlurmTestMemory : public SlurmTestSweep {
 protected:
  void SetUp() override {
    SlurmTestSweep::SetUp();
    if (IsSkipped()) return;
    write_file(folder_.path() / "wide.yaml", kWide);
  }

  /// Runs the sweep with workers that may use so many bytes.
  ProgramResult sweep_within(double bytes, const std::string& runs) const {
    write_file(folder_.path() / "site.yaml", fmt::format("setup: ['ulimit -d {:.0f}']\n", bytes / 1024));
    return xlm("sweep wide.yaml --launcher slurm --jobs 2 --site site.yaml --wait --runs " + runs);
  }

  /// The last number of that name in a run's journal.
  static double number(const fs::path& run, const char* name) {
    double last = std::nan("");
    for (const Json& record : journal_of(run)) {
      last = record.value(name, record.contains("values") ? record["values"].value(name, last) : last);
    }
    return last;
  }

  /// A run's states with their causes in the journal: "queued memory", "done".
  static std::vector<std::string> states(const fs::path& run) {
    std::vector<std::string> found;
    for (const Json& record : journal_of(run)) {
      if (record["type"] != "state") continue;
      const std::string cause = record.value("cause", "");
      found.push_back(record["state"].get<std::string>() + (cause.empty() ? "" : " " + cause));
    }
    return found;
  }
};

TEST_F(SlurmTestMemory, ARunWithoutEnoughMemoryRetriesWithFewerRowsOrFails) {
  ASSERT_EQ(xlm("sweep wide.yaml --runs whole").code, 0);
  ASSERT_EQ(xlm("sweep wide.yaml --runs parts train.micro_batch=8").code, 0);
  const double whole = number(runs_in("whole").begin()->second, "peak_memory");
  const double parts = number(runs_in("parts").begin()->second, "peak_memory");
  ASSERT_LT(parts, 0.6 * whole);

  // Half of the rows need less than half of the difference. A limit counts more than resident memory.
  const ProgramResult less = sweep_within(parts + 0.7 * (whole - parts), "less");
  EXPECT_EQ(less.code, 0) << less.err << less.out;
  EXPECT_EQ(runs_in("less").size(), 2U);
  for (const auto& [id, run] : runs_in("less")) {
    EXPECT_THAT(states(run), AllOf(Contains("queued memory"), Contains("done"))) << id;
    EXPECT_EQ(number(run, "micro_batch"), 32) << id;
    EXPECT_NEAR(number(run, "loss"), number(runs_in("whole").at(id), "loss"), 1e-5) << "float32 sums in another order";
  }

  const ProgramResult none = sweep_within(110e6, "none");
  EXPECT_EQ(none.code, 1) << none.err << none.out;
  for (const auto& [id, run] : runs_in("none")) EXPECT_EQ(states(run).back(), "failed memory") << id;
  EXPECT_THAT(none.out, AllOf(HasSubstr("0 of 2 runs done, 2 failed"), HasSubstr("out of memory")));
  LocalSlurm::until([&] { return slurm_.jobs().empty(); });
}

}  // namespace
}  // namespace xlm
