// The real program, in a temporary folder with a prepared text and a configuration.
#pragma once

#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/sha256.h"
#include "tests/experiments/program.h"
#include "tests/temporary_folder.h"

namespace xlm {

inline constexpr const char* kRun = R"(
data: {path: data}
model: {type: adaptive-span, width: 16, heads: 2, feed_forward: 32, layers: 2, span: 48, span_ramp: 8, dropout: 0.1}
optimizer: {warmup_steps: 20}
train: {steps: 160, batch: 4, block: 16, eval_every: 50, checkpoint_every: 7, threads: 1}
device: cpu
)";

class Pipeline : public testing::Test {
 protected:
  void SetUp() override {
    std::string text;
    for (int i = 0; i < 900; ++i)
      text += "line " + std::to_string(i * i % 1009) + " of a text that says little, and says it again\n";
    write_file(folder_.path() / "corpus.txt", text);
    ASSERT_EQ(xlm({"prepare-data", "text", "--from", "corpus.txt", "--out", "data"}).code, 0);
    write_file(folder_.path() / "run.yaml", kRun);
  }

  ProgramResult xlm(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), XLM_BINARY);
    return BackgroundProgram(std::move(arguments), folder_.path()).wait();
  }

  std::unique_ptr<BackgroundProgram> start(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), XLM_BINARY);
    return std::make_unique<BackgroundProgram>(std::move(arguments), folder_.path());
  }

  /// The only run folder below `runs`; empty if it is not there yet.
  fs::path run_folder(const std::string& runs) const {
    if (!fs::exists(folder_.path() / runs)) return {};
    for (const auto& entry : fs::directory_iterator(folder_.path() / runs)) {
      const bool hidden = entry.path().filename().string().front() == '.';  // it is being made
      if (!hidden && fs::exists(entry.path() / "config.yaml")) return entry.path();
    }
    return {};
  }

  /// Waits until the journal of that run contains `text`.
  void wait_for_record(const std::string& runs, const std::string& text) const {
    for (int i = 0; i < 60'000; ++i) {
      const fs::path folder = run_folder(runs);
      if (!folder.empty() && read_file(folder / "journal.jsonl").find(text) != std::string::npos) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    FAIL() << text << " does not come";
  }

  std::string model_hash(const std::string& runs) const {
    return sha256_file(run_folder(runs) / "model/model.safetensors");
  }

  TemporaryFolder folder_;
};

}  // namespace xlm
