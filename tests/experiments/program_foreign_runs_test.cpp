// Runs of others: what an archive, a folder of a group or a link may make a user's own commands do.
#include <gmock/gmock.h>

#include <sys/stat.h>
#include <unistd.h>

#include <regex>

#include <fmt/format.h>

#include "base/text.h"
#include "tests/experiments/program_of_user_fixture.h"
#include "tests/needs.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Others have another home, and so another key. A command of theirs would touch the file `marker`.
class ProgramForeignRuns : public ProgramOfUser {
 protected:
  ProgramForeignRuns() {
    write_script("train.py",
                 "import argparse, json, os\nprint('step 1 loss 1.0')\nprint('valid 1.0')\n"
                 "open(os.path.join(os.environ['XLM_CHECKPOINTS'], 'last'), 'w').close()\n");
    configure("[python3, train.py]",
              "  metrics: [{lines: 'step (?<step>\\d+) loss (?<loss>\\S+)'}, {lines: 'valid (?<valid.loss>\\S+)'}]\n",
              "options: {x: 1}\nsweep: {grid: {options.x: [1, 2]}}\n");
    be("me");
  }
  ~ProgramForeignRuns() override { ::unsetenv("XDG_CONFIG_HOME"); }

  void be(const std::string& who) const { ::setenv("XDG_CONFIG_HOME", (folder_.path() / who).c_str(), 1); }
  fs::path marker() const { return folder_.path() / "marker"; }
  std::string touch() const { return "touch " + marker().string() + "; echo step 1 loss 1; echo valid 1"; }

  static void edit(const fs::path& file, const std::string& from, const std::string& to) {
    std::string text = read_file(file);
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << text;
    write_file(file, text.replace(at, from.size(), to));
  }
  static void remove_end(const fs::path& run) {
    std::string text;
    for (const std::string& line : split(read_file(run / "journal.jsonl"), '\n')) {
      if (!line.empty() && line.find("\"state\":\"done\"") == std::string::npos) text += line + "\n";
    }
    write_file(run / "journal.jsonl", text);
  }
  void append(const fs::path& run, const std::string& record) const {
    AppendFile(run / "journal.jsonl").append(record);
  }

  /// A run of others that is not done, in `theirs`.
  fs::path their_run() {
    be("them");
    EXPECT_EQ(run({"sweep", "run.yaml", "--runs", "theirs"}).code, kDone);
    be("me");
    for (const auto& entry : fs::directory_iterator(folder_.path() / "theirs")) {
      if (!fs::exists(entry.path() / "journal.jsonl")) continue;
      remove_end(entry.path());
      return entry.path();
    }
    return {};
  }
  ProgramResult merge_and_sweep(const std::vector<std::string>& more = {}) {
    EXPECT_EQ(run({"runs", "merge", "theirs"}).code, kDone);
    std::vector<std::string> words{"sweep", "run.yaml"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
  /// Submits without a worker, lets others edit, and starts one.
  ProgramResult work_after(const std::function<void(const fs::path& run)>& edit) {
    const std::string text = run({"sweep", "run.yaml", "--launcher", "manual"}).out;
    std::smatch match;
    EXPECT_TRUE(std::regex_search(text, match, std::regex("\n  (.* worker --sweep .*)\n"))) << text;
    for (const fs::path& folder : run_folders()) edit(folder);
    return BackgroundProgram(split(match[1].str(), ' '), folder_.path()).wait();
  }
  void expect_refused() const {
    EXPECT_FALSE(fs::exists(marker()));
    for (const fs::path& folder : run_folders()) {
      const xlm::Run run = read_live_run(folder);
      EXPECT_EQ(run.status, RunStatus::kFailed);
      EXPECT_THAT(run.reason, AllOf(HasSubstr("is not what you submitted"), HasSubstr("--trust")));
    }
  }
};

TEST_F(ProgramForeignRuns, AJournalBringsNoCommand) {
  append(their_run(), Json({{"type", "wanted"},
                            {"time", 1},
                            {"split", "test"},
                            {"changes", Json::object()},
                            {"program", {{"command", {"sh", "-c", touch()}}}}})
                          .dump());
  EXPECT_EQ(merge_and_sweep().code, kDone);
  EXPECT_FALSE(fs::exists(marker()));
  for (const fs::path& folder : run_folders()) EXPECT_EQ(read_live_run(folder).status, RunStatus::kDone);
}

TEST_F(ProgramForeignRuns, AnEvaluationOfOnesOwnIsMadeOfMergedRuns) {
  their_run();
  write_file(config(), read_file(config()) + fmt::format("evaluate: {{command: [sh, -c, \"touch {}; echo test 2\"], "
                                                         "metrics: [{{lines: 'test (?<test.loss>\\S+)'}}]}}\n",
                                                         marker().string()));
  EXPECT_EQ(merge_and_sweep().code, kDone);
  EXPECT_TRUE(fs::exists(marker()));
  for (const fs::path& folder : run_folders()) EXPECT_FALSE(read_live_run(folder).evaluations.empty());
}

TEST_F(ProgramForeignRuns, TheirWorkIsNotImported) {
  const fs::path theirs = their_run();
  create_folders(theirs / "work");
  write_file(theirs / "work/argparse.py", "import os\nos.system('touch " + marker().string() + "')\n");
  EXPECT_EQ(merge_and_sweep().code, kDone);
  EXPECT_FALSE(fs::exists(marker()));
  const fs::path run = runs_ / theirs.filename();
  EXPECT_EQ(read_live_run(run).status, RunStatus::kDone);
  EXPECT_TRUE(fs::exists(run / "work.theirs/argparse.py")) << "what they left is kept";
}

/// A part of a run that was mine comes back from others.
TEST_F(ProgramForeignRuns, WorkThatIsMergedIntoARunOfOnesOwnIsNotImported) {
  EXPECT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  for (const fs::path& folder : run_folders()) remove_end(folder);
  fs::copy(runs_, folder_.path() / "theirs", fs::copy_options::recursive);
  for (const fs::path& folder : run_folders()) {
    const fs::path theirs = folder_.path() / "theirs" / folder.filename();
    append(theirs, R"({"type":"metric","time":1,"step":2,"values":{"loss":1}})");
    create_folders(theirs / "work");
    write_file(theirs / "work/argparse.py", "import os\nos.system('touch " + marker().string() + "')\n");
  }
  EXPECT_EQ(merge_and_sweep().code, kDone);
  EXPECT_FALSE(fs::exists(marker()));
}

TEST_F(ProgramForeignRuns, ACommandThatOthersChangedIsRefused) {
  const std::string command = "[sh, -c, \"" + touch() + "\"]";
  work_after([&](const fs::path& run) { edit(run / "config.yaml", "[python3, train.py]", command); });
  expect_refused();
}

TEST_F(ProgramForeignRuns, AnEnvironmentThatOthersChangedIsRefused) {
  write_file(config(), read_file(config()) + "# \n");
  work_after([&](const fs::path& run) {
    edit(run / "config.yaml", "command: ", "environment: {PYTHONPATH: /nowhere}\n  command: ");
  });
  expect_refused();
}

TEST_F(ProgramForeignRuns, CodeThatOthersNameIsRefused) {
  EXPECT_EQ(run({"sweep", "run.yaml", "--runs", "before"}).code, kDone);
  const std::string mine = read_file(folder_.path() / "code/train.py");
  write_script("train.py", "import os\nos.system('touch " + marker().string() + "')\n");
  EXPECT_EQ(run({"sweep", "run.yaml", "--launcher", "manual"}).code, kDone);
  std::string other;
  for (const fs::path& folder : run_folders()) other = read_live_run(folder).contents.at("program.folder");
  for (const fs::path& folder : run_folders()) fs::remove_all(folder);
  write_script("train.py", mine);
  work_after([&](const fs::path& run) {
    const std::string own = read_live_run(run).contents.at("program.folder");
    edit(run / "environment.json", own, other);
  });
  expect_refused();
}

TEST_F(ProgramForeignRuns, TheConfigurationOfARunOfOthersIsNoFileOfOnesOwn) {
  const fs::path theirs = their_run();
  edit(theirs / "config.yaml", "[python3, train.py]", "[sh, -c, \"" + touch() + "\"]");
  for (const char* command : {"train", "sweep"}) {
    const ProgramResult refused = run({command, (theirs / "config.yaml").string()});
    EXPECT_EQ(refused.code, kBadData) << refused.err;
    EXPECT_THAT(refused.err, AllOf(HasSubstr("is not what you submitted"), HasSubstr("--trust")));
  }
  EXPECT_FALSE(fs::exists(marker()));
  EXPECT_FALSE(fs::exists(runs_)) << "nothing was written";
  EXPECT_EQ(run({"train", "--trust", "theirs", (theirs / "config.yaml").string()}).code, kDone);
  EXPECT_TRUE(fs::exists(marker()));
}

TEST_F(ProgramForeignRuns, WhatIsTrustedIsExecutedAndRemembered) {
  const fs::path theirs = their_run();
  append(theirs, Json({{"type", "wanted"},
                       {"time", 1},
                       {"split", "test"},
                       {"changes", Json::object()},
                       {"program",
                        {{"command", {"sh", "-c", "touch " + marker().string() + "; echo test 2"}},
                         {"metrics", Json::array({{{"lines", "test (?<test.loss>\\S+)"}}})}}}})
                     .dump());
  ASSERT_EQ(run({"runs", "merge", "theirs"}).code, kDone);
  EXPECT_EQ(run({"sweep", "run.yaml", "--trust", "runs"}).code, kDone);
  EXPECT_TRUE(fs::exists(marker()));
  EXPECT_EQ(read_file(folder_.path() / "me/xlm/trusted"), fs::canonical(runs_).string() + "\n");
  EXPECT_EQ(run({"sweep", "run.yaml", "--trust", "nowhere"}).code, kUsage);
}

TEST_F(ProgramForeignRuns, WithoutAHomeOnesOwnSweepRuns) {
  ::setenv("XDG_CONFIG_HOME", "/proc/none", 1);
  EXPECT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  for (const fs::path& folder : run_folders()) EXPECT_EQ(read_live_run(folder).status, RunStatus::kDone);
}

TEST_F(ProgramForeignRuns, NothingIsWrittenThroughALinkOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << needs::kRoot;
  const fs::path own = folder_.path() / "own.txt";
  write_file(own, "mine\n");
  for (const char* name : {"log.txt", "output.txt", "journal.jsonl", "checkpoints", "checkpoints/last",
                           "metrics.position.json", "metrics.jsonl", "config.json", "environment.json"}) {
    fs::remove_all(runs_);
    work_after([&](const fs::path& run) {
      fs::remove_all(run / name);
      fs::create_directories((run / name).parent_path());
      fs::create_symlink(name == std::string("checkpoints") ? folder_.path() : own, run / name);
      ASSERT_EQ(::lchown((run / name).c_str(), 3001, 3001), 0);
    });
    EXPECT_EQ(read_file(own), "mine\n") << name;
    EXPECT_FALSE(fs::exists(folder_.path() / "last")) << name;
    if (name == std::string("environment.json")) continue;  // the run cannot be read then
    for (const fs::path& folder : run_folders()) {
      const xlm::Run refused = read_live_run(folder);
      EXPECT_NE(refused.status, RunStatus::kDone) << name;
      if (name != std::string("config.json")) continue;
      EXPECT_THAT(refused.reason, HasSubstr("config.json is a link that another user laid")) << "also in lists";
    }
  }
}

TEST_F(ProgramForeignRuns, WorkThatIsALinkIsMadeAnew) {
  const fs::path sources = folder_.path() / "sources";
  create_folders(sources);
  write_file(sources / "train.py", "an hour of work\n");
  const ProgramResult result = work_after([&](const fs::path& run) { fs::create_symlink(sources, run / "work"); });
  EXPECT_EQ(result.code, kDone) << result.err;
  EXPECT_EQ(read_file(sources / "train.py"), "an hour of work\n");
  for (const fs::path& folder : run_folders()) EXPECT_EQ(read_live_run(folder).status, RunStatus::kDone);
}

TEST_F(ProgramForeignRuns, OnlyItsUserMayEnterWhereAProgramRuns) {
  const mode_t before = ::umask(0002);
  write_script("train.py", "import os\nprint('step 1 loss', oct(os.stat('.').st_mode)[-3:])\n");
  EXPECT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  ::umask(before);
  for (const fs::path& folder : run_folders()) EXPECT_THAT(output(read_live_run(folder)), HasSubstr("loss 700"));
}

}  // namespace
}  // namespace xlm
