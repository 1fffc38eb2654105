// Whole runs on GPUs that compute nothing: every model, with everything that changes what a step asks of a GPU, keeps
// the rules of CUDA. A test runs a few of them; `make null-cuda` runs all.
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/campaign_size.h"
#include "tests/null_cuda/null_cuda_fixture.h"

namespace xlm {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct NullModel {
  std::string name;
  std::string yaml;                        // model: …
  bool recorded;                           // its steps can be recorded (docs/configuration.md, train.cuda_graph)
  bool has_groups = false;                 // it reads how many groups there are
  std::string data = "data";               // or "bytes"
  std::string warmup = "warmup_steps: 2";  // the newer models' own is a share of the steps
};

std::string span_yaml(const std::string& type) {
  return "model: {type: adaptive-span, width: 16, heads: 2, feed_forward: 32, layers: 2, span: 48, span_ramp: 8, "
         "span_type: " +
         type + "}\n";
}

std::string pooling_yaml(const std::string& boundaries, const std::string& layers = "[1, 1, 1]") {
  return "model: {type: hourglass, width: 16, heads: 2, feed_forward: 32, layers: " + layers +
         ", boundaries: " + boundaries + "}\n";
}

std::string window_yaml(const std::string& more = "") {
  return "model: {type: gpt2, width: 16, heads: 2, layers: 2, positions: 32, window: 16, windows: 3, overlap: 2" +
         more + "}\n";
}

std::vector<NullModel> null_models() {
  return {{"adaptive", span_yaml("adaptive"), true},
          {"gumbel", pooling_yaml("{type: gumbel}"), true, true},
          {"recurrent", window_yaml(", recurrence: {pool: mean}"), true},
          {"transformer", "model: {type: transformer, width: 16, head_width: 8, layers: 2}\n", true, false, "data", ""},
          {"patches",
           "model: {type: byte-patches, width: 16, head_width: 8, layers: 2, local_width: 8, local_layers: 2, "
           "positions: 96, places: 96}\n",
           true, false, "bytes", ""},
          {"fixed", span_yaml("fixed"), true},
          {"dynamic", span_yaml("dynamic"), true},
          {"expire", span_yaml("expire"), false},
          {"unpooled", pooling_yaml("{type: none}", "[2]"), true},
          {"pooled", pooling_yaml("{type: fixed, factor: 2}"), true, true},
          {"whitespace", pooling_yaml("{type: whitespace}"), true, true},
          {"entropy", pooling_yaml("{type: entropy}"), true, true},
          {"gpt2", window_yaml(), true},
          {"cache", window_yaml(", memory: cache"), true},
          {"memory", window_yaml(", memory: tokens, memory_tokens: 2"), true}};
}

/// What changes the way of a step, as words of the command line. The first are those that a test runs.
struct Variation {
  std::string name;
  std::vector<std::string> overrides;
  std::string settings = "";      // of the stand-in, besides
  bool counts_on_device = false;  // it reads numbers that look like a number of groups
};

std::vector<Variation> variations() {
  return {{"recorded", {"train.cuda_graph=true"}},
          {"in parts, bfloat16", {"train.micro_batch=1", "train.precision=bfloat16"}},
          {"recomputed, recorded if possible", {"train.checkpoint_windows=true", "train.cuda_graph=true"}},
          {"two processes", {"train.processes=2"}, "devices=2"},
          {"deterministic, bfloat16", {"train.deterministic=true", "train.precision=bfloat16"}},
          {"second GPU", {"device=cuda:1"}, "devices=2"},
          {"unrecorded", {"train.cuda_graph=false"}},
          {"bfloat16, recorded", {"train.precision=bfloat16", "train.cuda_graph=true"}},
          {"deterministic, recorded", {"train.deterministic=true", "train.cuda_graph=true"}},
          {"looked into", {"train.debug=true", "train.log_norms=true"}, "", true},
          {"two processes, bfloat16, in parts",
           {"train.processes=2", "train.precision=bfloat16", "train.micro_batch=1"},
           "devices=2"}};
}

class NullCudaRuns : public NullCuda {
 protected:
  void SetUp() override {
    NullCuda::SetUp();
    ASSERT_EQ(xlm({"prepare-data", "text", "--from", "corpus.txt", "--unit", "byte", "--out", "bytes"}).code, 0);
  }

  static constexpr const char* kTenGroups = "answer=8:integer:10";

  void write_run(const NullModel& model) const {
    write_file(folder_.path() / "run.yaml",
               "seed: 1\ndata: {path: " + model.data + "}\ndevice: cuda\noptimizer: {" + model.warmup +
                   "}\neval: {batch: 2, context: 96, stride: 48}\n"
                   "train: {steps: 6, batch: 4, block: 48, log_every: 1, eval_every: 3, checkpoint_every: 3, "
                   "threads: 1}\n" +
                   model.yaml);
  }

  /// Expects that the run ends with a model, and keeps the rules.
  NullCudaReport expect_clean(const std::string& runs, const NullModel& model, const Variation& variation) {
    write_run(model);
    const std::string what = model.name + ", " + variation.name;
    const ProgramResult result = train_on_gpu(
        runs, fmt::format("{};{};{}", kWithoutOwnKernels, model.has_groups ? kTenGroups : "", variation.settings),
        variation.overrides);
    EXPECT_EQ(result.code, 0) << what << "\n" << result.err;
    EXPECT_TRUE(fs::exists(run_folder(runs) / "model/model.safetensors")) << what;
    const NullCudaReport seen = report(runs);
    EXPECT_THAT(seen.violations, IsEmpty()) << what;
    EXPECT_GT(seen.launches, 100) << what;
    return seen;
  }
};

/// All models with all variations, in diagonals: the first runs have each its own model and its own variation.
std::vector<std::pair<NullModel, Variation>> all_null_runs() {
  const std::vector<NullModel> models = null_models();
  const std::vector<Variation> all = variations();
  std::vector<std::pair<NullModel, Variation>> runs;
  for (std::size_t shift = 0; shift < all.size(); ++shift) {
    for (std::size_t i = 0; i < models.size(); ++i) {
      const Variation& variation = all[(i + shift) % all.size()];
      if (models[i].has_groups && variation.counts_on_device) continue;
      runs.emplace_back(models[i], variation);
    }
  }
  return runs;
}

TEST_F(NullCudaRuns, EveryModelAndEveryVariationKeepTheRules) {
  std::vector<std::pair<NullModel, Variation>> runs = all_null_runs();
  EXPECT_GT(runs.size(), 150U);
  runs.resize(static_cast<std::size_t>(campaign_size(5, static_cast<int>(runs.size()))));
  int done = 0;
  int recorded = 0;
  for (const auto& [model, variation] : runs) {
    const NullCudaReport seen = expect_clean("run" + std::to_string(++done), model, variation);
    if (seen.graph_launches > 0) ++recorded;
    if (variation.name.starts_with("two processes")) {
      EXPECT_EQ(seen.processes, 2) << model.name << ", " << variation.name;
      EXPECT_GT(seen.sums, 0) << model.name << ", " << variation.name;
    }
  }
  EXPECT_GT(recorded, 0);
  xlm::report(fmt::format("{} runs on GPUs that compute nothing, {} of them recorded", done, recorded));
}

TEST_F(NullCudaRuns, StepsAreReplayedIfTheyCanBeRecorded) {
  int tried = 0;
  for (const NullModel& model : null_models()) {
    if (++tried > campaign_size(2, 100)) break;
    const NullCudaReport seen = expect_clean(model.name, model, {"as by default", {}});
    if (model.recorded) {
      EXPECT_GT(seen.graph_launches, 0) << model.name;
    } else {
      EXPECT_EQ(seen.graph_launches, 0) << model.name;
    }
  }
}

TEST_F(NullCudaRuns, TheSecondGpuIsTheOnlyOneThatIsUsed) {
  const NullCudaReport seen = expect_clean("second", null_models()[0], {"second GPU", {"device=cuda:1"}, "devices=2"});
  ASSERT_EQ(seen.peaks.size(), 2U);
  EXPECT_EQ(seen.peaks[0], 0);
  EXPECT_GT(seen.peaks[1], 0);
}

// What these tests look for is found: a program that waits in a recording, and one that reads a GPU's memory.
TEST_F(NullCudaRuns, AProgramThatBreaksARuleIsFound) {
  write_run(null_models()[0]);
  const std::string settings = kWithoutOwnKernels + std::string(";");
  const ProgramResult waits = train_on_gpu("waits", settings + "plant=wait", {"train.cuda_graph=true"});
  EXPECT_THAT(report("waits").violations, Contains(HasSubstr("cudaDeviceSynchronize while a stream is recorded")));
  EXPECT_EQ(waits.code, 0) << "the run continues without recordings: " << waits.err;
  EXPECT_THAT(waits.err, HasSubstr("train.cuda_graph has no effect from step"));
  const ProgramResult reads = train_on_gpu("reads", settings + "plant=host-read");
  EXPECT_NE(reads.code, 0);
  EXPECT_THAT(report("reads").violations, Not(IsEmpty()));
}

}  // namespace
}  // namespace xlm
