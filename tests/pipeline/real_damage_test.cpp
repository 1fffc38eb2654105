// Commands on a real model with damaged files and with too little memory. tests/campaigns/mutations_test.cpp damages
// the files of other commands, with the stand-in for core.
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <fstream>
#include <map>
#include <random>

#include <gmock/gmock.h>

#include <fmt/format.h>

#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"
#include "tests/campaign_size.h"
#include "tests/experiments/program.h"
#include "tests/mutation.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

constexpr const char* kDamagedRun = R"(
data: {path: data}
model: {type: adaptive-span, width: 16, heads: 2, feed_forward: 32, layers: 2, span: 24, span_ramp: 8, dropout: 0.1}
optimizer: {warmup_steps: 20}
train: {steps: 600, batch: 2, block: 16, eval_every: 20, checkpoint_every: 10, threads: 1}
eval: {select: best, batch: 2}
device: cpu
)";

class RealDamage : public testing::Test {
 protected:
  void SetUp() override {
    std::string text;
    for (int i = 0; i < 300; ++i) text += "line " + std::to_string(i * i % 109) + " of a text that says little\n";
    write_file(folder_.path() / "corpus.txt", text);
    ASSERT_EQ(xlm("prepare-data text --from corpus.txt --out data").code, 0);
    write_file(folder_.path() / "run.yaml", kDamagedRun);
  }

  /// The program with these arguments, after `before`, which are words for the shell.
  ProgramResult xlm(const std::string& arguments, const std::string& before = "") const {
    return shell(folder_.path(), before + " timeout 100 '" XLM_BINARY "' " + arguments);
  }

  std::string only_run(const std::string& runs) const {
    for (const auto& entry : fs::directory_iterator(folder_.path() / runs)) {
      if (fs::exists(entry.path() / "config.yaml")) return entry.path().lexically_relative(folder_.path()).string();
    }
    return {};
  }

  /// Makes a run in `stopped` that stopped after some checkpoints and best weights.
  void leave_a_stopped_run() {
    BackgroundProgram training({XLM_BINARY, "train", "run.yaml", "--runs", "stopped"}, folder_.path());
    const auto has_both = [&] {
      if (!fs::exists(folder_.path() / "stopped") || only_run("stopped").empty()) return false;
      const fs::path checkpoints = folder_.path() / only_run("stopped") / "checkpoints";
      return fs::exists(checkpoints / "best.safetensors") &&
             newest_checkpoint() >= (checkpoints / "step-000000030").lexically_relative(folder_.path()).string();
    };
    while (training.is_running() && !has_both()) ::usleep(500);
    training.kill(SIGTERM);
    ASSERT_EQ(training.wait().code, 75) << "it ended before it was asked to stop";
  }

  std::string newest_checkpoint() const {
    std::string newest;
    for (const auto& entry : fs::directory_iterator(folder_.path() / only_run("stopped") / "checkpoints")) {
      const std::string name = entry.path().lexically_relative(folder_.path()).string();
      if (entry.path().filename().string().starts_with("step-")) newest = std::max(newest, name);
    }
    return newest;
  }

  TemporaryFolder folder_;
};

/// The output of a command that must not change: losses and continued text, without times; of a training the hash of
/// the weights.
std::string essence(const fs::path& folder, const std::string& command, const ProgramResult& result) {
  if (command.starts_with("train")) {
    for (const auto& entry : fs::recursive_directory_iterator(folder / "stopped")) {
      if (entry.path().filename() == "model.safetensors") return sha256_file(entry.path());
    }
    return "no model";
  }
  Json json = parse_json(result.out, command);
  json.erase("seconds");
  return json.dump();
}

TEST_F(RealDamage, EndsInAnErrorOrChangesNoNumber) {
  ASSERT_EQ(xlm("train run.yaml").code, 0);
  leave_a_stopped_run();
  const std::string done = only_run("runs");
  const std::string eval = "eval " + done + " --json";
  const std::string sample = "sample " + done + " --prompt 'line 1' --tokens 20 --json";
  const std::string train = "train run.yaml --runs stopped";
  // Files whose bytes are changed, and commands that read them.
  const std::vector<std::pair<std::string, std::string>> cases{
      {done + "/model/model.safetensors", eval},
      {done + "/model/model.safetensors", sample},
      {"data/test.bin", eval},
      {newest_checkpoint(), train},
      {done + "/model/vocab.json", sample},
      {done + "/model/vocab.json", eval},
      {done + "/model/config.yaml", eval},
      {only_run("stopped") + "/checkpoints/best.safetensors", train},
      {"data/vocab.json", eval},
      {done + "/model/config.yaml", sample},
      {only_run("stopped") + "/config.yaml", train}};
  const auto restore = [&] { ASSERT_EQ(shell(folder_.path(), "rm -rf data runs stopped && cp -a whole/. .").code, 0); };
  ASSERT_EQ(shell(folder_.path(), "mkdir whole && cp -a data runs stopped whole/").code, 0);
  std::map<std::string, std::string> undamaged;
  for (const std::string& command : {eval, sample, train}) {
    restore();
    const ProgramResult result = xlm(command);
    ASSERT_EQ(result.code, 0) << command << "\n" << result.err;
    undamaged[command] = essence(folder_.path(), command, result);
  }
  std::mt19937 random(23);
  std::map<int, int> codes;
  int unchanged = 0;
  const int mutations = campaign_size(40, 300);
  for (int i = 0; i < mutations; ++i) {
    const auto& [name, command] = cases[static_cast<std::size_t>(i) % cases.size()];
    SCOPED_TRACE(fmt::format("mutation {} of {}: xlm {}", i, name, command));
    restore();
    const std::string whole = read_file(folder_.path() / name);
    const std::string damaged = mutated(whole, random);
    std::ofstream(folder_.path() / name, std::ios::binary) << damaged;
    const ProgramResult result = xlm(command);
    ++codes[result.code];
    EXPECT_THAT(result.code, testing::AnyOf(0, 1, 2, 3, 4, 5)) << result.err;
    if (result.code != 0) {
      EXPECT_THAT(result.err, testing::HasSubstr("error: "));
      EXPECT_EQ(raw_words_in(result.err), nullptr) << result.err;
      continue;
    }
    const bool same = essence(folder_.path(), command, result) == undamaged[command];
    unchanged += same ? 1 : 0;
    // Configurations are the user's to change. Of damaged best weights none are used, which is said.
    const bool said = result.err.find("warning: ") != std::string::npos && name.ends_with("best.safetensors");
    EXPECT_TRUE(same || said || name.ends_with(".yaml")) << "another number without an error\n"
                                                         << result.out << result.err;
  }
  std::string by_code;
  for (const auto& [code, count] : codes) by_code += fmt::format(", {} with exit code {}", count, code);
  report(fmt::format("real damage: {} mutations{}; {} left the very same result", mutations, by_code, unchanged));
}

/// From limits too small for the loader to limits that suffice for everything.
TEST_F(RealDamage, TooLittleMemoryIsAnErrorAndNotACrash) {
  write_file(folder_.path() / "sweep.yaml", std::string(kDamagedRun) + "sweep: {grid: {seed: [1, 2]}}\n");
  const int steps = campaign_size(10, 60);
  std::map<std::string, std::map<int, int>> codes;
  for (int i = 0; i < steps; ++i) {
    const double share = static_cast<double>(i) / (steps - 1);
    for (const auto& [limit, least, most] : {std::tuple("ulimit -v", 120e6, 1500e6), {"ulimit -d", 20e6, 400e6}}) {
      const bool swept = i % 5 == 4;
      const std::string command = fmt::format("{} --runs limited train.steps=3 train.eval_every=0 {}",
                                              swept ? "sweep sweep.yaml --jobs 1" : "train run.yaml",
                                              i % 2 == 0 ? "train.batch=64 train.block=128" : "");
      const double bytes = least * std::pow(most / least, share);
      SCOPED_TRACE(fmt::format("{} {:.0f}; xlm {}", limit, bytes / 1024, command));
      fs::remove_all(folder_.path() / "limited");
      const ProgramResult result = xlm(command, fmt::format("{} {:.0f};", limit, bytes / 1024));
      ++codes[std::string(limit) + (swept ? ", sweep" : ", train")][result.code];
      if (result.code == 0) continue;
      EXPECT_EQ(result.code, swept ? 1 : 5) << result.out << result.err;
      EXPECT_THAT(result.err + result.out,
                  testing::AnyOf(testing::HasSubstr("memory"), testing::HasSubstr("can start only 0 of")));
      EXPECT_EQ(raw_words_in(result.err + result.out), nullptr) << result.err;
    }
  }
  std::string counts;
  for (const auto& [what, of_what] : codes) {
    counts += fmt::format("{}{}:", counts.empty() ? " " : "; ", what);
    for (const auto& [code, count] : of_what) counts += fmt::format(" {} with exit code {},", count, code);
    counts.pop_back();
    EXPECT_TRUE(of_what.contains(0) || what.find("sweep") != std::string::npos) << what << " never had enough memory";
  }
  report("memory:" + counts);
}

}  // namespace
}  // namespace xlm
