// The sweeps of published programs in examples/programs: they are accepted, and read what the programs print. The
// programs themselves are not part of the project.
#include <algorithm>

#include <gmock/gmock.h>

#include "base/yaml.h"
#include "experiments/programs/metric_readers.h"
#include "tests/experiments/program_fixture.h"
#include "tests/experiments/programs/recording_sink.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const fs::path kPublished = fs::path(XLM_SOURCE_DIR) / "examples/programs";

std::vector<fs::path> published_sweeps() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(kPublished)) {
    const bool is_sweep = entry.path().extension() == ".yaml" && entry.path().filename() != "comparison.yaml";
    if (is_sweep) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

class PublishedPrograms : public ProgramTest {
 protected:
  /// Folders with the names of the programs' repositories, each with a file of code.
  PublishedPrograms() {
    make_data(folder_.path() / "data/text8");
    for (const fs::path& file : published_sweeps()) {
      const Yaml sweep = read_yaml(file);
      const Yaml* program = sweep.find("program");
      if (program == nullptr) continue;
      const fs::path code = folder_.path() / program->find("folder")->scalar;
      create_folders(code);
      write_file(code / "main.py", "");
      EXPECT_EQ(shell(code, "git init -q && git add main.py").code, 0);
    }
  }

  /// What the patterns of a file read from an output, and what they warn of.
  std::vector<std::string> records_of(const std::string& file, std::string_view output) {
    const Json metrics = to_json(*read_yaml(kPublished / file).find("program")->find("metrics"));
    RecordingSink sink;
    MetricReaders readers(metric_descriptions(metrics), folder_.path() / "metrics.jsonl", sink);
    readers.begin(Json());
    readers.output(output);
    readers.finish(true);
    warnings_ = readers.warnings();
    return sink.take();
  }

  std::vector<std::string> warnings_;
};

TEST_F(PublishedPrograms, AreAcceptedAsSweeps) {
  const std::vector<fs::path> files = published_sweeps();
  EXPECT_EQ(files.size(), 5U);
  for (const fs::path& file : files) {
    const ProgramResult listed = run({"sweep", file.string(), "--dry-run"});
    EXPECT_EQ(listed.code, 0) << file << listed.err;
    EXPECT_THAT(listed.out, HasSubstr("runs to do")) << file;
    EXPECT_THAT(listed.out, HasSubstr("nothing was written")) << file;
    const ProgramResult checked = run({"sweep", file.string(), "--check"});
    EXPECT_EQ(checked.code, 0) << file << checked.out << checked.err;
  }
  EXPECT_FALSE(fs::exists(runs_));
}

TEST_F(PublishedPrograms, ThatAreNotThereAreMissed) {
  fs::remove_all(folder_.path() / "nanoGPT");
  const ProgramResult listed = run({"sweep", (kPublished / "nanogpt.yaml").string(), "--dry-run"});
  EXPECT_NE(listed.code, 0);
  EXPECT_THAT(listed.err, HasSubstr("nanoGPT"));
}

TEST_F(PublishedPrograms, AreCompared) {
  const std::string file = (kPublished / "comparison.yaml").string();
  const ProgramResult table = run({"table", file});
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("not there yet: published, ours (no run)"));
  const ProgramResult claims = run({"claims", file});
  EXPECT_EQ(claims.code, 3) << claims.err;
  EXPECT_THAT(claims.out, HasSubstr("1 claim: 1 not tried"));
}

TEST_F(PublishedPrograms, AdaptiveSpanIsRead) {
  EXPECT_THAT(records_of("adaptive-span.yaml",
                         "model_params:\t {'hidden_size': 128}\n"
                         "nb_parameters=0.81M\n"
                         "steps: 100\ttrain: 3.133bpc\tval: 2.844bpc\tms/batch: 111.6\tspan_avg: 34\tspan_max: 42\n"
                         "steps: 200\ttrain: 2.775bpc\tval: 2.700bpc\tms/batch: 112.0\tspan_avg: 33\tspan_max: 40\n"
                         "nb_parameters=0.81M\n"
                         "loading from a checkpoint at last.pt\n"
                         "val: 2.701bpc\n"
                         "test: 2.693bpc\n"),
              ElementsAre("100: bpc=3.133", "valid 100: average_span=34 bpc=2.844 max_span=42", "200: bpc=2.775",
                          "test 200: bpc=2.693", "valid 200: average_span=33 bpc=2.701 max_span=40",
                          "costs: ms_per_batch=112 params=810000", "test 200: bpc=2.693 final",
                          "valid 200: average_span=33 bpc=2.701 max_span=40 final"));
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("at step 200 'valid.bpc' is 2.701 after 2.7")))
      << "the whole split is evaluated at the end";
}

TEST_F(PublishedPrograms, DynamicPoolingIsRead) {
  EXPECT_THAT(
      records_of("dynamic-pooling.yaml",
                 "    - n_token : 27\n"
                 "    - n_all_param : 241307\n"
                 "| epoch   1 step       20 | batches     20 / 3907 | lr 1.000e-03 | tok/s    4013 | loss  2.95\n"
                 "----------------------------------------\n"
                 "| Eval   1 at step       20 | time: 13.34s | valid loss  2.89\n"
                 "End of training\n"
                 "| End of training | test loss  2.69 | test bpc   3.87491\n"),
      ElementsAre("20: loss=2.95 lr=0.001 tokens_per_second=4013", "test 20: bpc=3.87491 loss=2.69",
                  "valid 20: loss=2.89", "costs: params=241307", "test 20: bpc=3.87491 loss=2.69 final",
                  "valid 20: loss=2.89 final"));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(PublishedPrograms, NanoGptIsRead) {
  EXPECT_THAT(
      records_of("nanogpt.yaml",
                 "number of parameters: 0.20M\n"
                 "step 0: train loss 3.3125, val loss 3.3130\n"
                 "iter 0: loss 3.3168, time 2350.16ms, mfu -100.00%\n"
                 "iter 10: loss 3.1291, time 82.77ms, mfu 0.01%\n"
                 "step 50: train loss 2.8245, val loss 2.8159\n"
                 "saving checkpoint to checkpoints\n"),
      ElementsAre("0: loss=3.3168 mfu=-100 milliseconds=2350.16", "train 0: loss=3.3125", "valid 0: loss=3.313",
                  "10: loss=3.1291 mfu=0.01 milliseconds=82.77", "train 50: loss=2.8245", "valid 50: loss=2.8159",
                  "costs: params=200000", "train 50: loss=2.8245 final", "valid 50: loss=2.8159 final"));
  EXPECT_THAT(warnings_, IsEmpty());
}

}  // namespace
}  // namespace xlm
