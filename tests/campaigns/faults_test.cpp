// A command is killed, or finds a full or a broken disk, at each of its calls that change a file. Run again, it gives
// the same result as without faults.
#include <gmock/gmock.h>

#include "tests/campaigns/campaign.h"

namespace xlm {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

struct Command {
  std::string name;
  std::string before;   // a command that runs first, without faults
  std::string command;  // the command with faults
  int stride;           // of the calls in a test; `make soak` takes every call
};

void PrintTo(const Command& command, std::ostream* out) { *out << command.name; }

/// Makes a copy of every run in runs/, as it was at its beginning.
const std::string kShorterCopy =
    " --quiet && mkdir runs && cp -r other/*-* runs && for journal in runs/*/journal.jsonl; do"
    " head -n 4 $journal >shorter && mv shorter $journal; done; true";
const std::string kPacked =
    " --quiet && '" XLM_FAKE_BINARY "' runs pack --runs other --out packed.tar.zst >/dev/null; true";

/// Makes a copy of every run in runs/ that was packed without its model and checkpoints.
const std::string kBareCopy =
    " --quiet && mkdir runs && cp -r other/*-* runs && rm -r runs/*/model runs/*/checkpoints; true";
/// The same in other/, where one of them is evaluated.
const std::string kEvaluatedElsewhere =
    " --quiet && mkdir other && cp -r runs/*-* other && '" XLM_FAKE_BINARY
    "' eval other/$(ls other | head -n 1) --split valid eval.batch=5 --quiet >/dev/null"
    " && rm -r other/*/model other/*/checkpoints; true";

const std::vector<Command>& disturbed() {
  static const std::vector<Command> all{
      {"train", "", "train run.yaml", 9},
      {"sweep", "", "sweep sweep.yaml --jobs 2", 23},
      {"sync", "sweep sweep.yaml --jobs 1", "runs sync --rebuild", 17},
      {"remove", "train run.yaml", "runs rm RUN --yes", 5},
      {"eval", "train run.yaml", "eval RUN --split valid eval.batch=3", 5},
      {"prepare", "", "prepare-data text --from notes.txt --clean text8 --out prepared", 9},
      {"table", "sweep sweep.yaml --jobs 1", "table sweep.yaml --out table.tex", 3},
      {"report", "sweep sweep.yaml --jobs 1", "report sweep.yaml --out report.html", 3},
      {"merge", "sweep sweep.yaml --jobs 1 --runs other", "runs merge other", 29},
      {"move", "sweep sweep.yaml --jobs 1 --runs other", "runs merge other --move", 17},
      {"merge_longer", "sweep sweep.yaml --jobs 1 --runs other" + kShorterCopy, "runs merge other", 37},
      {"move_models", "sweep sweep.yaml --jobs 1 --runs other" + kBareCopy, "runs merge other --move", 29},
      {"merge_back", "sweep sweep.yaml --jobs 1" + kEvaluatedElsewhere, "runs merge other", 17},
      {"unpack", "sweep sweep.yaml --jobs 1 --runs other" + kPacked, "runs merge packed.tar.zst", 41},
      {"pack", "sweep sweep.yaml --jobs 1", "runs pack --out packed.tar.zst", 7},
  };
  return all;
}

class FolderTest : public Campaign {};

class FaultTest : public Campaign, public ::testing::WithParamInterface<Command> {
 protected:
  FaultTest() {
    write_sweep(
        "sweep: {grid: {seed: [1, 2]}}\n"
        "evaluate: [{split: valid, eval.batch: 3}]\n"
        "tables:\n"
        "  - table: Means\n"
        "    rows: model.span_type\n"
        "    columns: data.name\n"
        "    cells: {value: test.bpc, aggregate: mean, digits: 3}\n");
    std::string text;
    for (int line = 0; line < 300; ++line) text += fmt::format("line {} of a text without meaning\n", line);
    write_file(folder_.path() / "notes.txt", text);
  }

  /// Prepares the folder for the command with faults.
  void start_anew() {
    for (const char* made :
         {"runs", "prepared", "table.tex", "report.html", "data/.verified.json", "other", "packed.tar.zst"}) {
      fs::remove_all(folder_.path() / made);
    }
    const std::string& before = GetParam().before;
    if (before.empty()) return;
    ASSERT_EQ(run_with("", before + " --quiet").code, 0);
    if (fs::exists(runs_)) run_id_ = run_folders().front().filename();
  }

  std::string command() const { return std::regex_replace(GetParam().command, std::regex("RUN"), run_id_); }

  std::string preload(const std::string& more) const {
    return fmt::format("{} XLM_FAULT_FOLDER='{}' {}", xlm::preload(), folder_.path().string(), more);
  }

  /// The calls of the undisturbed command that change files, with their counts.
  std::vector<std::string> calls() {
    start_anew();
    const fs::path log = folder_.path() / "calls";
    const ProgramResult undisturbed = run_with(preload("XLM_FAULT_LOG='" + log.string() + "'"), command());
    EXPECT_EQ(undisturbed.code, 0) << undisturbed.err;
    if (!fs::exists(log)) return {};
    std::vector<std::string> lines = split(read_file(log), '\n');
    lines.pop_back();
    fs::remove(log);
    return lines;
  }

  void disturb(const std::string& fault, std::size_t at);

  std::string run_id_;                        // of the run that exists before the command
  std::map<std::string, std::string> files_;  // the files without faults
  std::string store_;
  std::map<int, int> codes_;
};

void FaultTest::disturb(const std::string& fault, std::size_t at) {
  SCOPED_TRACE(fmt::format("{}@{}", fault, at));
  start_anew();
  const ProgramResult disturbed = run_with(preload(fmt::format("XLM_FAULT={}@{}", fault, at)), command());
  ++codes_[disturbed.code];
  if (fault.starts_with("kill")) {
    EXPECT_THAT(disturbed.code, AnyOf(0, 1, 128 + SIGKILL)) << disturbed.err;  // 1: a sweep whose worker was killed
  } else if (fault == "short") {
    EXPECT_EQ(disturbed.code, 0) << disturbed.err;
  } else {
    // A command may succeed despite a fault. Its result is then whole, as is checked below.
    EXPECT_THAT(disturbed.code, AnyOf(0, 1, kBadData, kOutOfResources)) << disturbed.err;
    if (fault == "enospc") {
      EXPECT_NE(disturbed.code, kBadData) << "a full disk is no damage: " << disturbed.err;
    }
    if (disturbed.code != 0) {
      EXPECT_THAT(disturbed.err + disturbed.out, HasSubstr("cannot "));
    }
    if (disturbed.code == 0) {
      EXPECT_EQ(store(), store_);
    }
  }
  let_time_pass();
  const ProgramResult repeated = run_with("", command());
  const bool gone = GetParam().name == "remove" && repeated.err.find("no run") != std::string::npos;
  EXPECT_TRUE(repeated.code == 0 || gone) << repeated.err;
  EXPECT_EQ(store(), store_);
  EXPECT_EQ(store(true), store_) << "rebuilt from the run folders";
  const auto found = files();
  for (const auto& [name, hash] : found) {
    EXPECT_TRUE(files_.contains(name)) << "left behind: " << name;
    if (files_.contains(name)) {
      EXPECT_EQ(hash, files_.at(name)) << name;
    }
  }
  for (const auto& [name, hash] : files_) {
    // A folder that cannot be renamed is copied, and a copy has no lock.
    const bool may_lack = GetParam().name.starts_with("move") && fs::path(name).filename() == "lock";
    EXPECT_TRUE(found.contains(name) || may_lack) << "missing: " << name;
  }
}

/// Many network file systems cannot exchange folders.
TEST_F(FolderTest, IsReplacedWithoutExchangingFolders) {
  write_file(folder_.path() / "first.txt", std::string(2000, 'a') + "\n");
  write_file(folder_.path() / "second.txt", std::string(3000, 'b') + "\n");
  const std::string cannot = preload() + " XLM_FAULT_FOLDER='" + folder_.path().string() + "' XLM_NO_EXCHANGE=1";
  ASSERT_EQ(run_with("", "prepare-data text --from first.txt --out prepared").code, 0);
  const ProgramResult again = run_with(cannot, "prepare-data text --from second.txt --out prepared --force");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(read_file(folder_.path() / "prepared" / "vocab.json"), HasSubstr("b"));
  for (const auto& entry : fs::directory_iterator(folder_.path())) {
    EXPECT_FALSE(entry.path().filename().string().starts_with(".")) << "left behind: " << entry.path();
  }
}

TEST_P(FaultTest, ACommandRunAgainGivesTheUndisturbedResult) {
  const std::vector<std::string> made = calls();
  store_ = store();
  files_ = files();
  ASSERT_GT(made.size(), 5U);
  const std::size_t stride = campaign_size(GetParam().stride, 1);
  std::size_t faults = 0;
  for (const char* fault : {"kill", "killed", "enospc", "eio", "short"}) {
    for (std::size_t at = 1 + faults % stride; at <= made.size(); at += stride) {
      if (std::string(fault) == "short" && made[at - 1].find("write") == std::string::npos) continue;
      disturb(fault, at);
      ++faults;
    }
  }
  std::string codes;
  for (const auto& [code, count] : codes_) codes += fmt::format(", {} with exit code {}", count, code);
  report(fmt::format("{}: {} calls, {} faults{}", GetParam().name, made.size(), faults, codes));
}

/// If a file's name is on the disk before its bytes, the file is empty after a power failure. So the bytes come first,
/// then the name, then its folder. In a folder that no user sees before it is renamed, the bytes may follow the name.
class OrderTest : public FaultTest {};

TEST_P(OrderTest, BytesAreOnTheDiskBeforeTheirName) {
  const std::vector<std::string> made = calls();
  const auto is = [&](std::size_t at, const char* kind) { return split(made[at], ' ').at(1) == kind; };
  const auto path_of = [&](std::size_t at) { return fs::path(split(made[at], ' ').at(2)).lexically_normal().string(); };
  const auto next_of = [&](std::size_t at, const char* kind, const std::string& path) {
    do ++at;
    while (at < made.size() && !(is(at, kind) && path_of(at) == path));
    return at;
  };
  int renamed = 0;
  for (std::size_t i = 1; i + 1 < made.size(); ++i) {
    if (!is(i, "rename")) continue;
    const fs::path file = path_of(i);
    const fs::path folder = file.parent_path();
    SCOPED_TRACE(file);
    if (file.filename() == "clean") continue;  // of prepare-data: the same process reads it and removes it
    ++renamed;
    if (is(i - 1, "fsync")) {
      if (fs::is_regular_file(file)) {
        EXPECT_TRUE(path_of(i - 1).starts_with((folder / ("." + file.filename().string())).string()));
      }
      EXPECT_EQ(next_of(i, "fsync", folder), i + 1);
      continue;
    }
    ASSERT_EQ(folder.extension(), ".preparing");
    const std::string shown = (folder.parent_path() / folder.stem().string().substr(1)).string();
    const std::size_t shown_at = next_of(i, "rename", shown);
    ASSERT_LT(shown_at, made.size());
    EXPECT_LT(next_of(i, "fsync", file), shown_at);
    EXPECT_LT(next_of(i, "fsync", folder), shown_at);
  }
  EXPECT_GT(renamed, 0);
}

/// Commands of one process, whose calls have one order.
INSTANTIATE_TEST_SUITE_P(Commands, OrderTest, ::testing::Values(disturbed()[0], disturbed()[5], disturbed()[6]),
                         [](const auto& command) { return command.param.name; });

INSTANTIATE_TEST_SUITE_P(Commands, FaultTest, ::testing::ValuesIn(disturbed()),
                         [](const auto& command) { return command.param.name; });

}  // namespace
}  // namespace xlm
