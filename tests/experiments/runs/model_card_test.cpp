// A model's card, as the hub's own library reads it.
#include "experiments/runs/model_card.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "tests/needs.h"
#include "tests/readers.h"
#include "tests/results/run_maker.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ModelCard : public ::testing::Test {
 protected:
  void SetUp() override {
    maker_.make(made_);
    maker_.evaluate(made_, "test", 1.75, {{"data.name", "pg-19"}, {"eval.batch", 1}});
    create_folders(model());
  }
  fs::path model() const { return maker_.folder(made_.id) / "model"; }
  void describe() { describe_model(read_run(maker_.folder(made_.id))); }

  TemporaryFolder folder_;
  RunMaker maker_{folder_.path() / "runs"};
  MadeRun made_{.bpc = 1.25};
};

TEST_F(ModelCard, SaysWhatTheModelIsAndWhatWasMeasured) {
  describe();
  const std::string card = read_file(model() / "README.md");
  EXPECT_THAT(card,
              AllOf(HasSubstr("A model of type adaptive-span with 38.1M parameters, trained for 100 steps on text8"),
                    HasSubstr("| text8 | test | bits per character | 1.2500 |"),
                    HasSubstr("| pg-19 (eval.batch=1) | test | bits per character | 1.7500 |"),
                    HasSubstr("```yaml\nexperiment: spans\n"), HasSubstr("fingerprint `f00d`")));
  EXPECT_THAT(card, AllOf(Not(HasSubstr("transformers")), Not(HasSubstr("\nlicense:"))));
  EXPECT_FALSE(fs::exists(model() / "generation_config.json"));
}

TEST_F(ModelCard, IsReadByTheHubsLibrary) {
  if (!readers_are_installed()) GTEST_SKIP() << needs::kReaders;
  describe();
  const std::string seen = read_with_python(
      folder_.path(), "from huggingface_hub import ModelCard\ncard = ModelCard.load('" +
                          (model() / "README.md").string() +
                          "')\n"
                          "print(card.data.model_name, card.data.tags, card.data.datasets, card.data.license)\n"
                          "for r in card.data.eval_results:\n"
                          "    print(r.task_type, r.dataset_name, r.dataset_split, r.metric_type, r.metric_value)\n");
  EXPECT_THAT(seen, HasSubstr("adaptive-span-text8-00000001 ['xlm', 'adaptive-span'] ['text8'] None\n"));
  EXPECT_THAT(seen, HasSubstr("text-generation text8 test bpc 1.25\n"));
  EXPECT_THAT(seen, HasSubstr("text-generation text8 valid bpc 1.15\n"));
  EXPECT_THAT(seen, HasSubstr("text-generation pg-19 test bpc 1.75\n"));
}

TEST_F(ModelCard, NamesTheTokenThatEndsATextWhereItIsAGpt2) {
  write_file(model() / "config.json", R"({"model_type": "gpt2", "n_embd": 8})");
  write_file(model() / "vocab.json", R"({"a": 0, "<|endoftext|>": 1})");
  describe();
  EXPECT_EQ(read_json(model() / "config.json"),
            Json::parse(R"({"model_type": "gpt2", "n_embd": 8, "bos_token_id": 1, "eos_token_id": 1})"));
  EXPECT_EQ(read_json(model() / "generation_config.json")["eos_token_id"], 1);
  EXPECT_THAT(read_file(model() / "README.md"), HasSubstr("library_name: transformers"));
  write_file(model() / "vocab.json", R"({"unit": "character", "symbols": ["a"]})");
  describe();
  EXPECT_TRUE(read_json(model() / "config.json")["eos_token_id"].is_null()) << "characters have no such token";
}

TEST_F(ModelCard, NamesTheClassOfTheConfigurationAndNoFolderOfThisMachine) {
  const fs::path config = maker_.folder(made_.id) / "config.yaml";
  write_file(model() / "config.json", R"({"architectures": ["LlamaForCausalLM"]})");
  auto run = read_run(maker_.folder(made_.id));
  run.params = {{"data.path", "/home/me/data/text8"}, {"model.init_from", "/home/me/models/wide/"}, {"data.name", "/"}};
  write_file(config, "data: {path: /home/me/data/text8}\nmodel: {init_from: /home/me/models/wide/}\n");
  const std::string card = model_card(run);
  EXPECT_THAT(card, AllOf(HasSubstr("from transformers import LlamaForCausalLM\nmodel = LlamaForCausalLM.from_"),
                          HasSubstr("data: {path: text8}\nmodel: {init_from: wide}\n"), Not(HasSubstr("/home/me"))));
}

TEST_F(ModelCard, IsNotMadeWithoutAModel) {
  fs::remove_all(model());
  describe();
  EXPECT_FALSE(fs::exists(model()));
}

}  // namespace
}  // namespace xlm
