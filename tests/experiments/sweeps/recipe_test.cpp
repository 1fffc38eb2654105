#include "experiments/sweeps/recipe.h"

#include <regex>

#include <gmock/gmock.h>

#include "base/files.h"
#include "base/text.h"
#include "tests/thrown_message.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

std::string complaint_about_recipe(const std::string& section) {
  return thrown_message([&] { recipe_of(parse_yaml("experiment: e\n" + section, "r.yaml")); });
}

TEST(Recipe, ASlipInAnySectionIsRefusedWithItsLine) {
  EXPECT_THAT(complaint_about_recipe("sweep: {gird: {seed: [1]}}\n"),
              StartsWith("r.yaml:2: unknown key 'gird' in 'sweep'"));
  EXPECT_THAT(complaint_about_recipe("sweep: {grid: {seed: 1}}\n"), StartsWith("r.yaml:2: the values of 'seed'"));
  EXPECT_THAT(complaint_about_recipe("sweep:\n  when: {a: {b: 1}}\n"), StartsWith("r.yaml:3: sweep.when names 'a'"));
  EXPECT_THAT(complaint_about_recipe("sweep: {search: [1]}\n"), StartsWith("r.yaml:2: sweep.search must be a map"));
  EXPECT_THAT(complaint_about_recipe("sweep:\n  early_stopping: {keep: 2}\n"), StartsWith("r.yaml:3: keep is '2'"));
  EXPECT_THAT(complaint_about_recipe("evaluate: {splt: valid}\n"),
              StartsWith("r.yaml:2: an evaluation cannot change 'splt'"));
  EXPECT_THAT(complaint_about_recipe("resources: {time: 4}\n"), StartsWith("r.yaml:2: resources.time must be a time"));
  EXPECT_THAT(complaint_about_recipe("corpora: [text8]\n"), StartsWith("r.yaml:2: corpora must be a map"));
}

TEST(Recipe, EveryKeyOfASweepIsInTheManual) {
  const std::string complaint = complaint_about_recipe("sweep: {zebra: 1}\n");
  const std::string list = "it takes ";
  const std::size_t begin = complaint.find(list);
  ASSERT_NE(begin, std::string::npos) << complaint;
  const std::string page = read_file(fs::path(XLM_SOURCE_DIR) / "docs" / "sweeps.md");
  for (std::string key : split(complaint.substr(begin + list.size()), ',')) {
    key = trim(key);
    EXPECT_TRUE(std::regex_search(page, std::regex("`(sweep\\.)?" + key + "[`:]"))) << key;
  }
}

TEST(Recipe, HoldsWhatEverySectionSays) {
  const Yaml file = parse_yaml(
      "experiment: spans\nseed: 4\nrequire: [data.path, {data.name: text8}]\n"
      "sweep:\n  grid: {model.span: [1, 2]}\n  early_stopping: {rungs: [10, 30]}\n"
      "evaluate: {split: [valid, test]}\nresources: {cpus: 8}\ncorpora: {d: text8}\ntable: t\n",
      "r.yaml");
  const Recipe recipe = recipe_of(file);
  EXPECT_EQ(recipe.experiment, "spans");
  EXPECT_EQ(recipe.points.size(), 2U);
  EXPECT_FALSE(recipe.search);
  EXPECT_EQ(recipe.early_stopping->rungs.size(), 2U);
  EXPECT_EQ(recipe.evaluations.front().points.size(), 2U);
  EXPECT_EQ(recipe.resources.cpus.source, "r.yaml:8");
  EXPECT_THAT(recipe.required, ElementsAre("data.path"));
  EXPECT_EQ(recipe.place_of_corpora, "r.yaml:9");
  EXPECT_EQ(recipe.run.find("table"), nullptr);
  EXPECT_EQ(recipe.run.find("seed")->scalar, "4");
}

TEST(Recipe, OfASearchIsReadAgainFromItsText) {
  const Recipe recipe = recipe_of(parse_yaml(
      "sweep: {search: {measure: valid.bpc, trials: 2, keys: {a: [1, 2]}, seeds: 3}, budget: {flops: 1e9}}\n",
      "r.yaml"));
  const Recipe again = recipe_of(parse_yaml(recipe.text, "r.yaml"));
  EXPECT_EQ(again.points.size(), 6U);
  EXPECT_EQ(value_at(again.points[5], "train.flops")->scalar, "1e9");
  EXPECT_EQ(again.search->keys.size(), 1U) << "b stays fixed";
  EXPECT_EQ(again.text, recipe.text);
}

}  // namespace
}  // namespace xlm
