#include "experiments/configuration/run_id.h"

#include <gmock/gmock.h>

#include <set>

#include "base/error.h"
#include "base/sha256.h"
#include "experiments/configuration/configuration.h"
#include "results/store/sql_query.h"
#include "results/store/store.h"
#include "tests/experiments/experiment_files.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::ThrowsMessage;

const RunInputs kInputs{.data = {.dataset = "text8", .language = "", .fingerprint = "f00d", .symbols = 27},
                        .contents = {}};

RunOptions options_with(const std::string& more) {
  Yaml tree = parse_yaml("data: {path: d}\nmodel: {type: adaptive-span}\ntrain: {steps: 10}\n", "run.yaml");
  if (!more.empty()) apply_override(tree, more);
  return read_run_options(tree);
}

std::string id_with(const std::string& more) { return run_id(options_with(more), kInputs); }

TEST(RunId, NamesModelAndDataset) { EXPECT_THAT(id_with(""), MatchesRegex("adaptive-span-text8-[0-9a-f]{16}")); }

TEST(RunId, ChangesWithWhatChangesTheResult) {
  for (const char* change :
       {"seed=2", "model.span=512", "optimizer.lr=0.1", "train.steps=11", "train.precision=bfloat16", "train.tf32=true",
        "eval.batch=4", "eval.select=best", "train.batch=32"}) {
    EXPECT_NE(id_with(change), id_with("")) << change;
  }
}

TEST(RunId, StaysWithWhereAndHowItRuns) {
  for (const char* change :
       {"experiment=other", "data.path=elsewhere", "device=cpu", "train.threads=3", "train.checkpoint_every=7",
        "train.log_every=9", "train.max_hours=1", "model.init_from=x", "eval.by_document=true"}) {
    EXPECT_EQ(id_with(change), id_with("")) << change;
  }
}

// What is left out is 0 in every run, resolved into steps, or no setting: seeds and the experiment.
TEST(SeedGroup, StaysWithWhereAndHowItRuns) {
  const std::set<std::string> left_out{"experiment", "seed", "train.epochs", "train.eval_every_tokens", "train.tokens"};
  Store store = Store::in_memory();
  for (const OptionEntry& entry : option_entries(options_with(""))) {
    if (left_out.contains(entry.key)) continue;
    std::vector<xlm::Run> runs(2);
    for (xlm::Run& run : runs) {
      run.id = &run == &runs[0] ? "a" : "b";
      run.params.emplace_back(entry.key, run.id);
    }
    store.add(runs);
    const bool alike = run_sql(store, "SELECT DISTINCT seed_group FROM runs").rows.size() == 1;
    EXPECT_EQ(alike, !entry.affects_result) << entry.key;
  }
}

// Ids that were given before an option came stay as they were.
TEST(RunId, StaysWhenAnOptionCameLater) {
  EXPECT_THAT(id_with("optimizer.warmup_steps=32000"), testing::StartsWith("adaptive-span-text8-823da8ca"));
  EXPECT_EQ(id_with("eval.max_windows=0"), id_with(""));
  EXPECT_NE(id_with("eval.max_windows=500"), id_with(""));
  EXPECT_EQ(id_with("eval.first_token=skip"), id_with(""));
  EXPECT_NE(id_with("eval.first_token=score"), id_with(""));
}

TEST(RunId, StaysWithTheFirstOfChoicesThatCameLater) {
  Yaml tree = parse_yaml("data: {path: d}\nmodel: {type: gpt2}\ntrain: {steps: 10}\n", "run.yaml");
  const auto identity = [&](const std::string& more) {
    Yaml changed = tree;
    if (!more.empty()) apply_override(changed, more);
    return run_identity(read_run_options(changed), kInputs);
  };
  EXPECT_EQ(identity("").find("model.activation"), std::string::npos) << "ids are older than it";
  EXPECT_EQ(identity("model.activation=gelu_new"), identity(""));
  EXPECT_EQ(identity("model.attention_scale=width"), identity(""));
  EXPECT_THAT(identity("model.activation=relu"), HasSubstr("model.activation=\"relu\"\n"));
  EXPECT_THAT(identity("model.attention_scale=none"), HasSubstr("model.attention_scale=\"none\"\n"));
  EXPECT_EQ(identity("").find("model.memory"), std::string::npos) << "nor has a model without a memory its numbers";
  EXPECT_THAT(identity("model.memory=cache"), HasSubstr("model.memory=\"cache\"\nmodel.memory_windows=1\n"));
}

TEST(RunId, ChangesWithDataAndInitialWeights) {
  RunInputs other = kInputs;
  other.data.fingerprint = "beef";
  EXPECT_NE(run_id(options_with(""), other), id_with(""));
  other = kInputs;
  other.contents["model.init_from"] = "1234";
  EXPECT_NE(run_id(options_with(""), other), id_with(""));
}

class Weights : public ::testing::Test {
 protected:
  std::string hash() const { return weights_sha256(folder_.path()); }
  /// The hash after a file was written.
  std::string with(const std::string& name, const std::string& content) const {
    write_file(folder_.path() / name, content);
    return hash();
  }

  TemporaryFolder folder_;
};

TEST_F(Weights, OfOneFileAreItsHash) {
  EXPECT_EQ(with("model.safetensors", "weights"), sha256("weights"));
  EXPECT_EQ(with("config.json", "{}"), sha256("weights"));
  EXPECT_EQ(with("model.safetensors.index.json", "{}"), sha256("weights"));
}

TEST_F(Weights, InSeveralFilesAllCount) {
  write_file(folder_.path() / "model.safetensors.index.json", "{}");
  write_file(folder_.path() / "config.json", "{}");
  write_file(folder_.path() / "model-1-of-2.safetensors", "one");
  const std::string first = with("model-2-of-2.safetensors", "two");
  EXPECT_EQ(first, sha256(sha256("one") + sha256("two") + sha256("{}"))) << "in the order of their names";
  const std::string second = with("model-1-of-2.safetensors", "other");
  const std::string third = with("model-2-of-2.safetensors", "another");
  const std::string fourth = with("model.safetensors.index.json", "{ }");
  EXPECT_EQ((std::set<std::string>{first, second, third, fourth}.size()), 4U);
  EXPECT_EQ(with("README.md", "nothing that is loaded"), fourth);
}

TEST_F(Weights, AShapeAloneIsItsHashAndNothingIsAnError) {
  EXPECT_THROW(hash(), DataError);
  EXPECT_EQ(with("config.json", "{}"), sha256("{}"));
}

TEST(RunId, IsTheSameForADefaultWrittenOut) {
  EXPECT_EQ(id_with("model.span=1024"), id_with(""));
  EXPECT_EQ(id_with("optimizer.lr=7e-2"), id_with(""));
}

TEST(RunId, FolderNamesAreSafe) { EXPECT_EQ(folder_name("My Text/é"), "my-text---"); }

TEST(RunInputs, MissingDataNamesTheCommandThatMakesIt) {
  RunOptions options = options_with("");
  options.data.path = "/nowhere/text8";
  EXPECT_THAT([&] { read_inputs(options); },
              ThrowsMessage<DataError>(AllOf(HasSubstr("xlm prepare-data"), HasSubstr("/nowhere/text8"))));
}

TEST(RunInputs, DataWithNothingToTrainOnAreRefused) {
  const TemporaryFolder folder;
  RunOptions options = options_with("");
  options.data.path = make_data(folder.path() / "a");
  const fs::path meta = folder.path() / "a/meta.json";
  Json json = read_json(meta);
  json["sizes"].erase("train");
  write_file(meta, json.dump());
  EXPECT_THAT([&] { read_inputs(options); },
              ThrowsMessage<DataError>(HasSubstr("/a has no training split, it has: valid, test\n")));
}

TEST(RunInputs, SameDataElsewhereHasTheSameFingerprint) {
  const TemporaryFolder folder;
  RunOptions options = options_with("");
  options.data.path = make_data(folder.path() / "a");
  const std::string first = read_inputs(options).data.fingerprint;
  options.data.path = make_data(folder.path() / "b");
  EXPECT_EQ(read_inputs(options).data.fingerprint, first);
  options.data.path = make_data(folder.path() / "c", "ccc");
  EXPECT_NE(read_inputs(options).data.fingerprint, first);
}

}  // namespace
}  // namespace xlm
