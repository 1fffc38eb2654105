// Which evaluations of users count as a run's own.
#include "experiments/runs/evaluation_record.h"

#include <gmock/gmock.h>

#include "experiments/configuration/configuration.h"
#include "experiments/configuration/weights_use.h"
#include "experiments/runs/submission.h"
#include "experiments/runs/wanted_evaluations.h"
#include "experiments/worker/runner.h"
#include "results/run_folder/journal.h"
#include "tests/experiments/experiment_files.h"
#include "tests/experiments/fake_core.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

class EvaluationRecordTest : public ::testing::Test {
 protected:
  EvaluationRecordTest() : run_(done_run()) {}

  /// A finished run with final evaluations of valid and test.
  PlannedRun done_run(const std::string& more = "", const std::string& training = "") {
    const fs::path data = make_data(folder_.path() / "data");
    std::string config = run_config(data, more);
    config.insert(config.find("steps: 10"), training);
    PlannedRun run = Planner(runs_).plan(read_run_options(parse_yaml(config, "run.yaml")));
    submit(run);
    const RunReport report = execute(run.paths.folder, [this]() -> Core& { return core_; }, {});
    EXPECT_EQ(report.status, RunStatus::kDone) << report.message;
    return run;
  }

  /// What `xlm eval` records; `batch` 0: with the run's own settings.
  void evaluate(const std::string& split, std::int64_t batch) {
    RunOptions options = run_.options;
    if (batch > 0) options.eval.batch = batch;
    const Evaluation evaluation{.split = split, .loss = static_cast<double>(batch)};
    const EvaluationRequest request{.place = locate_model(run_.id(), runs_), .options = options, .split = split};
    EXPECT_EQ(record_evaluation(request, evaluation, runs_), run_.paths.folder);
  }

  /// The request of `xlm eval` with these settings.
  EvaluationRequest request(const std::string& model, const std::vector<std::string>& overrides) {
    const LocatedModel place = locate_model(model, runs_);
    EvaluationRequest made{.place = place, .options = evaluation_options(place, overrides), .split = "test"};
    made.options.data.path = make_data(folder_.path() / "data").string();
    return made;
  }

  /// How the evaluations of a folder differ from its own settings.
  static std::vector<std::string> differences(const fs::path& folder) {
    std::vector<std::string> texts;
    for (const RunEvaluation& evaluation : read_run(folder).evaluations) {
      if (evaluation.split == "test") texts.push_back(at_text(evaluation.at));
    }
    return texts;
  }

  std::vector<bool> final(const std::string& split) const {
    std::vector<bool> flags;
    for (const Json& record : read_journal(run_.paths.journal()).records) {
      if (record.at("type") == "evaluation" && record.at("split") == split) flags.push_back(record.at("final"));
    }
    return flags;
  }

  TemporaryFolder folder_;
  fs::path runs_ = folder_.path() / "runs";
  FakeCore core_;
  PlannedRun run_;
};

TEST_F(EvaluationRecordTest, IsFinalUntilThereIsOneOfTheSplitWithTheRunsOwnSettings) {
  evaluate("train", 4);
  evaluate("train", 0);
  evaluate("train", 2);
  evaluate("test", 4);
  EXPECT_THAT(final("train"), ElementsAre(true, true, false));
  EXPECT_THAT(final("test"), ElementsAre(true, false)) << "the first is the training's own";
  for (const RunEvaluation& evaluation : read_run(run_.paths.folder).evaluations) {
    if (evaluation.split == "train") {
      EXPECT_EQ(evaluation.main, evaluation.values.at("loss") == 0);
    }
    EXPECT_EQ(evaluation.step, 10) << "the run's last became the model";
  }
}

TEST_F(EvaluationRecordTest, IsOfTheStepWhoseWeightsBecameTheModel) {
  core_.orders = "best-at=6";
  run_ = done_run("seed: 2\n");
  evaluate("train", 0);
  evaluate("test", 4);
  for (const RunEvaluation& evaluation : read_run(run_.paths.folder).evaluations) {
    const bool last = evaluation.split == "valid" && !evaluation.final;
    EXPECT_EQ(evaluation.step, last ? 10 : 6) << evaluation.split << " " << evaluation.settings;
  }
}

TEST_F(EvaluationRecordTest, MadeAgainItReplacesTheEarlierOne) {
  evaluate("train", 0);
  evaluate("train", 0);
  const xlm::Run run = read_run(run_.paths.folder);
  const auto is_main = [](const RunEvaluation& known) { return known.main && known.split == "train"; };
  EXPECT_EQ(std::count_if(run.evaluations.begin(), run.evaluations.end(), is_main), 1);
}

/// Keeping them changes neither the run's id nor which evaluation is its own.
TEST_F(EvaluationRecordTest, KeepsTheLossesOfDocumentsOfARunThatIsDone) {
  Evaluation evaluation{.split = "test", .tokens = 9, .loss = 1};
  evaluation.parts = {.of_documents = false, .each = 5, .tokens = {5, 4}, .sums = {7.123456, 1}};
  EvaluationRequest asked = request(run_.id(), {});
  asked.options.eval.by_document = true;
  EXPECT_EQ(record_evaluation(asked, evaluation, runs_), run_.paths.folder);
  const xlm::Run run = read_run(run_.paths.folder);
  ASSERT_TRUE(run.losses.contains("test"));
  EXPECT_THAT(run.losses.at("test").sums, ElementsAre(7.1235, 1));
  EXPECT_EQ(run.losses.at("test").step, 10) << "of the model's weights";
  for (const RunEvaluation& known : run.evaluations) EXPECT_TRUE(known.at.empty()) << at_text(known.at);

  evaluation.parts.sums = {1, 1};
  asked.options.eval.batch = 4;
  record_evaluation(asked, evaluation, runs_);
  EXPECT_THAT(read_run(run_.paths.folder).losses.at("test").sums, ElementsAre(7.1235, 1))
      << "with other settings it is another evaluation";
}

TEST_F(EvaluationRecordTest, HasTheRunsSettingsByDefault) {
  EXPECT_EQ(request(run_.id(), {}).options.train.precision, Precision::kFloat32);
  EXPECT_EQ(request(done_run("seed: 7\n").id(), {}).options.seed, 7);
  run_ = done_run("", "precision: bfloat16, tf32: true, ");
  for (const std::string& model : {run_.id(), (run_.paths.folder / "model").string()}) {
    EXPECT_EQ(request(model, {}).options.train.precision, Precision::kBfloat16) << model;
    EXPECT_TRUE(request(model, {}).options.train.tf32) << model;
  }
  EXPECT_EQ(request(run_.id(), {"train.precision=float32"}).options.train.precision, Precision::kFloat32);
  const xlm::Run run = read_run(run_.paths.folder);
  EXPECT_EQ(request_of(run, {.split = "test", .changes = {}}).options.train.precision, Precision::kBfloat16);
  const WantedEvaluation other{.split = "test", .changes = {{"train.precision", "float32"}, {"train.tf32", false}}};
  EXPECT_EQ(request_of(run, other).options.train.precision, Precision::kFloat32);
  EXPECT_FALSE(request_of(run, other).options.train.tf32);
  EXPECT_THAT(missing_evaluations(run, {{.split = "test", .changes = {}}, other}), ElementsAre(other));
}

TEST_F(EvaluationRecordTest, InAnotherPrecisionIsNotTheRunsOwn) {
  run_ = done_run("", "precision: bfloat16, ");
  const EvaluationRequest other = request(run_.id(), {"train.precision=float32"});
  record_evaluation(other, {.split = "test", .loss = 3}, runs_);
  EXPECT_THAT(differences(run_.paths.folder), UnorderedElementsAre("", "train.precision=float32"));
  EXPECT_EQ(find_evaluation(other, runs_)->values.at("loss"), 3);
  EXPECT_EQ(find_evaluation(request(run_.id(), {}), runs_)->values.at("loss"), 1.5) << "the training's own";
}

TEST_F(EvaluationRecordTest, OfAModelFolderIsInFloat32ByDefault) {
  const fs::path model = folder_.path() / "mine";
  create_folders(model);
  write_file(model / "config.yaml", "model: {type: adaptive-span, span: 8}\n");
  write_file(model / "model.safetensors", "weights");
  const EvaluationRequest plain = request(model.string(), {});
  const EvaluationRequest rounded = request(model.string(), {"train.precision=bfloat16"});
  const fs::path folder = record_evaluation(plain, {.split = "test", .loss = 1}, runs_);
  EXPECT_EQ(find_evaluation(plain, runs_)->values.at("loss"), 1) << "nothing is computed again";
  EXPECT_FALSE(find_evaluation(rounded, runs_));
  EXPECT_EQ(record_evaluation(rounded, {.split = "test", .loss = 2}, runs_), folder);
  EXPECT_THAT(differences(folder), UnorderedElementsAre("", "train.precision=bfloat16"));
  EXPECT_EQ(find_evaluation(rounded, runs_)->values.at("loss"), 2);
}

/// Changes everything that an evaluation's result depends on, one at a time: an earlier result must not be taken for a
/// different evaluation.
TEST_F(EvaluationRecordTest, EveryInputOfAResultCounts) {
  const fs::path data = make_data(folder_.path() / "data");
  const fs::path model = folder_.path() / "mine";
  create_folders(model);
  write_file(model / "config.yaml", "model: {type: gpt2, width: 8, heads: 2, layers: 2, positions: 16, window: 8}\n");
  write_file(model / "model.safetensors", "weights");
  write_file(model / "vocab.json", R"({"unit": "character", "symbols": ["a", "b", "c"]})");
  write_file(model / "tokenizer.json", "{}");
  record_evaluation(request(model.string(), {}), {.split = "test", .loss = 1}, runs_);
  const auto is_known = [&](const std::vector<std::string>& overrides = {}) {
    const LocatedModel place = locate_model(model.string(), runs_);
    EvaluationRequest asked{.place = place, .options = evaluation_options(place, overrides), .split = "test"};
    asked.options.data.path = data.string();
    return find_evaluation(asked, runs_).has_value();
  };
  ASSERT_TRUE(is_known());

  const auto changed = [&](const fs::path& file, const std::string& content) {
    const std::string before = read_file(file);
    write_file(file, content);
    EXPECT_FALSE(is_known()) << file << "\n" << content;
    write_file(file, before);
    EXPECT_TRUE(is_known()) << file;
  };
  changed(model / "model.safetensors", "others");
  changed(model / "vocab.json", R"({"unit": "character", "symbols": ["b", "a", "c"]})");
  changed(model / "tokenizer.json", R"({"version": "1.0"})");
  changed(model / "config.yaml", "model: {type: gpt2, width: 8, heads: 4, layers: 2, positions: 16, window: 8}\n");
  const Json meta = read_json(data / "meta.json");
  const auto with = [&](const std::string& key, const Json& value) {
    Json other = meta;
    other[key] = value;
    return other.dump();
  };
  for (const char* counts : {"sizes", "words", "bytes"}) {
    changed(data / "meta.json", with(counts, {{"train", 9}, {"valid", 9}, {"test", 5}}));
  }
  for (const char* lists : {"documents", "document_words", "document_bytes"}) {
    changed(data / "meta.json", with(lists, {{"test", {0, 4}}}));
  }
  for (const char* file : {"train.bin", "valid.bin", "test.bin", "vocab.json"}) {
    Json outputs = meta["outputs"];
    outputs[file] = sha256("other");
    changed(data / "meta.json", with("outputs", outputs));
  }

  for (const OptionEntry& entry : option_entries(read_model_folder(model, {}))) {
    if (!is_evaluation_setting(entry) || entry.key == "model.window" || entry.key == "model.overlap") continue;
    if (!makes_a_difference(entry, WeightsUse::kEval, TextScheme::kWindows)) continue;
    const std::string other = entry.value.is_number_integer()  ? std::to_string(entry.value.get<std::int64_t>() + 1)
                              : entry.value.is_boolean()       ? "true"
                              : entry.key == "train.precision" ? "bfloat16"
                                                               : "score";
    EXPECT_FALSE(is_known({entry.key + "=" + other})) << entry.key;
  }
  EXPECT_FALSE(is_known({"model.window=6"}));
  EXPECT_FALSE(is_known({"model.overlap=2"}));
  EXPECT_TRUE(is_known());
}

/// A segmentation may be trained again under its name: results belong to its content.
TEST_F(EvaluationRecordTest, OfASegmentationDependsOnWhatItHolds) {
  const fs::path data = make_data(folder_.path() / "data");
  const fs::path tokenizer = data / "segmentations/unigram-8/tokenizer.model";
  create_folders(tokenizer.parent_path());
  write_file(tokenizer, "pieces");
  const fs::path model = folder_.path() / "mine";
  create_folders(model);
  write_file(model / "config.yaml", "model: {type: hourglass, boundaries: {type: unigram, tokenizer: unigram-8}}\n");
  write_file(model / "model.safetensors", "weights");
  const EvaluationRequest asked = request(model.string(), {});
  record_evaluation(asked, {.split = "test", .loss = 1}, runs_);
  EXPECT_TRUE(find_evaluation(asked, runs_));
  write_file(tokenizer, "other pieces");
  EXPECT_FALSE(find_evaluation(asked, runs_));
  fs::remove_all(data / "segmentations");
  EXPECT_FALSE(find_evaluation(asked, runs_));
}

}  // namespace
}  // namespace xlm
