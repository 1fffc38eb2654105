// The program as it is, in a folder of its own with a prepared text and a configuration.
#pragma once

#include <memory>
#include <string>
#include <vector>

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

  /// The only run folder below `runs`.
  fs::path run_folder(const std::string& runs) const {
    for (const auto& entry : fs::directory_iterator(folder_.path() / runs)) {
      if (fs::exists(entry.path() / "config.yaml")) return entry.path();
    }
    return {};
  }

  std::string model_hash(const std::string& runs) const {
    return sha256_file(run_folder(runs) / "model/model.safetensors");
  }

  TemporaryFolder folder_;
};

}  // namespace xlm
