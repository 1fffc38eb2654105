// Values in recipes that only the paper can confirm: sizes, lengths, settings of corpora. Whether a recipe can get what
// it asks for is checked by `xlm sweep --check`.
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/text.h"
#include "experiments/configuration/best_of.h"
#include "experiments/configuration/configuration.h"
#include "experiments/sweeps/recipe.h"
#include "experiments/sweeps/sweep.h"
#include "experiments/sweeps/sweep_conditions.h"
#include "results/exhibits/exhibits.h"

namespace xlm {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

const std::vector<std::string>& profiles_with_runs() {
  static const std::vector<std::string> names{"smoke", "small", "paper"};
  return names;
}

Yaml recipe(const std::string& name, const std::string& profile) {
  return read_configuration(fs::path(XLM_SOURCE_DIR) / "experiments/recipes" / (name + ".yaml"), profile, {});
}

std::vector<std::string> recipes_of(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(fs::path(XLM_SOURCE_DIR) / "experiments/recipes" / folder)) {
    if (entry.path().extension() == ".yaml") names.push_back(folder + "/" + entry.path().stem().string());
  }
  return names;
}

/// The configurations of a recipe's runs, as the file has them.
std::vector<Yaml> runs_of(const Yaml& tree) {
  std::vector<Yaml> runs;
  for (const SweepPoint& point : recipe_of(tree).points) runs.push_back(at_point(run_part(tree), point));
  return runs;
}

/// A run's value of a key; empty: the default holds.
std::string said(const Yaml& run, const std::string& key) {
  const Yaml* node = find_path(run, key);
  return node == nullptr || node->is_null() ? "" : node->scalar;
}

double number(const Yaml& run, const std::string& key) {
  double value = 0;
  EXPECT_TRUE(parse_real(said(run, key), value)) << key << ": " << said(run, key);
  return value;
}

/// The values of some keys together, over all runs.
std::set<std::string> combinations(const std::vector<Yaml>& runs, const std::vector<std::string>& keys) {
  std::set<std::string> all;
  for (const Yaml& run : runs) {
    std::vector<std::string> values;
    for (const std::string& key : keys) values.push_back(said(run, key));
    all.insert(join(values, " "));
  }
  return all;
}

std::vector<Yaml> with(const std::vector<Yaml>& runs, const std::string& key, const std::string& value) {
  std::vector<Yaml> chosen;
  for (const Yaml& run : runs) {
    if (said(run, key) == value) chosen.push_back(run);
  }
  return chosen;
}

/// The items of `require`, a map as "key: value".
std::vector<std::string> required(const Yaml& tree) {
  std::vector<std::string> names;
  const Yaml* node = tree.find("require");
  if (node == nullptr || node->is_null()) return names;
  for (const Yaml& item : node->items) {
    if (item.is_scalar()) names.push_back(item.scalar);
    for (const auto& [key, value] : item.entries) names.push_back(key + ": " + value.scalar);
  }
  return names;
}

Yaml figure_of(const Yaml& tree, const std::string& name) {
  for (const Yaml& figure : find_exhibits(tree, ExhibitKind::kFigure)) {
    if (const Yaml* own = figure.find("name"); own != nullptr && own->scalar == name) return figure;
  }
  ADD_FAILURE() << "no figure " << name;
  return {};
}

const std::vector<std::string> kRecurrent{"recurrence/learning-rate", "recurrence/table-1", "recurrence/table-2",
                                          "recurrence/variants", "recurrence/window"};

TEST(Recipes, AskForNoValueThatIsNeverTaken) {
  std::size_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(XLM_SOURCE_DIR) / "experiments/recipes")) {
    if (entry.path().extension() != ".yaml") continue;
    const Yaml file = read_yaml(entry.path());
    EXPECT_NO_THROW(check_condition_values(file, file)) << entry.path();
    ++count;
  }
  EXPECT_GE(count, 18U);
}

TEST(Recipes, MayHoldEveryOptionOfARun) {
  for (std::size_t model = 0; model < model_types().size(); ++model) {
    const Yaml run = resolved(default_run_options(model));
    const Yaml recipe = merge(run, parse_yaml("tables: [{table: T}]\n", "recipe.yaml"));
    EXPECT_EQ(find_exhibits(recipe, ExhibitKind::kTable).size(), 1U);
  }
}

ChosenValue fallback_of(const BestOf& best) { return {.value = best.fallback.value(), .runs = {}}; }

TEST(Recipes, OfTheRecurrencePaperBeginWithPretrainedWeights) {
  for (const std::string& name : kRecurrent) {
    for (const char* profile : {"", "paper"}) {
      const Yaml tree = recipe(name, profile);
      EXPECT_THAT(required(tree), ElementsAre("model.pretrained")) << name << " " << profile;
      Yaml run = runs_of(tree).front();
      choose_values(run, fallback_of);
      run.set("train.epochs", make_scalar("0", "test"));  // whose length in steps the data would have to say
      run.set("train.eval_every_tokens", make_scalar("0", "test"));
      run.set("train.steps", make_scalar("1", "test"));
      EXPECT_THAT([&] { read_run_options(run); }, ::testing::ThrowsMessage<UsageError>(HasSubstr("model.pretrained")))
          << name;
    }
    for (const char* profile : {"smoke", "small"}) EXPECT_THAT(required(recipe(name, profile)), IsEmpty()) << name;
  }
}

TEST(Recipes, OfTheRecurrencePaperAreTwoEpochsLong) {
  for (const std::string& name : kRecurrent) {
    EXPECT_THAT(
        combinations(runs_of(recipe(name, "paper")), {"train.epochs", "train.steps", "train.eval_every_tokens"}),
        ElementsAre("2  2000000"))
        << name;
  }
}

TEST(Recipes, TrainOneModelWithoutRecurrenceForAllOverlaps) {
  for (const std::string& name : {std::string("recurrence/table-1"), std::string("recurrence/table-2")}) {
    for (const std::string& profile : profiles_with_runs()) {
      EXPECT_THAT(combinations(runs_of(recipe(name, profile)), {"model.recurrence.pool", "model.overlap"}),
                  UnorderedElementsAre("none ", "mean 0", "mean 5", "mean 10", "mean 30", "mean 50"))
          << name << " " << profile;
    }
  }
}

/// The learning rate of the models without and with recurrence, as `choose` chooses it.
std::map<bool, std::set<double>> rates_of(const Yaml& tree, const ChooseValue& choose = nullptr) {
  std::map<bool, std::set<double>> rates;
  for (Yaml& run : runs_of(tree)) {
    choose_values(run, choose);
    rates[said(run, "model.recurrence.pool") != "none"].insert(number(run, "optimizer.lr"));
  }
  return rates;
}

TEST(Recipes, HaveOneRateForTheRecurrentModelAndOneForTheOtherOutOfOneSetOfCandidates) {
  for (const std::string& profile : profiles_with_runs()) {
    const std::map<bool, std::set<double>> candidates = rates_of(recipe("recurrence/learning-rate", profile));
    ASSERT_EQ(candidates.size(), 2U);
    EXPECT_EQ(candidates.at(false), candidates.at(true)) << profile;
    EXPECT_GE(candidates.at(false).size(), 3U) << profile;
    const std::map<bool, std::set<double>> chosen = rates_of(recipe("recurrence/table-1", profile), fallback_of);
    for (const std::string& name : kRecurrent) {
      if (name == kRecurrent.front()) continue;
      const std::map<bool, std::set<double>> rates = rates_of(recipe(name, profile), fallback_of);
      EXPECT_EQ(rates, chosen) << name << " " << profile;
      for (const bool recurrent : {false, true}) {
        ASSERT_EQ(rates.at(recurrent).size(), 1U) << name << " " << profile;
        EXPECT_THAT(candidates.at(recurrent), Contains(*rates.at(recurrent).begin())) << name << " " << profile;
      }
    }
  }
}

TEST(Recipes, OfTheRecurrencePaperTakeTheirRatesFromTheSweepThatSelectsThem) {
  const ChooseValue by_model = [](const BestOf& best) {
    EXPECT_EQ(best.file.filename(), "learning-rate.yaml");
    EXPECT_EQ(best.by, "valid.word_perplexity");
    const std::string pool = best.where.find("model.recurrence.pool")->scalar;
    EXPECT_EQ(best.where.entries.size(), 1U);
    return ChosenValue{.value = make_scalar(pool == "none"   ? "1e-4"
                                            : pool == "mean" ? "2e-4"
                                                             : "0",
                                            "test"),
                       .runs = {}};
  };
  for (const std::string& name : kRecurrent) {
    if (name == kRecurrent.front()) continue;
    for (const std::string& profile : profiles_with_runs()) {
      EXPECT_EQ(rates_of(recipe(name, profile), by_model),
                (std::map<bool, std::set<double>>{{false, {1e-4}}, {true, {2e-4}}}))
          << name << " " << profile;
    }
  }
}

TEST(Recipes, DrawACurveOverWindowsForEachModelAndOverlap) {
  for (const std::string& profile : profiles_with_runs()) {
    const Yaml figure = figure_of(recipe("recurrence/window", profile), "figure-5");
    std::vector<std::string> series;
    for (const Yaml& item : figure.find("series")->items) series.push_back(item.scalar);
    EXPECT_THAT(series, UnorderedElementsAre("model.recurrence.pool", "at.model.overlap"));
    EXPECT_EQ(figure.find("where"), nullptr) << "which would leave a model out";
  }
  EXPECT_THAT(combinations(runs_of(recipe("recurrence/window", "paper")), {"model.recurrence.pool", "model.window"}),
              UnorderedElementsAre("none 200", "none 300", "none 400", "none 500", "none 600", "mean 200", "mean 300",
                                   "mean 400", "mean 500", "mean 600"));
}

TEST(Recipes, OfWindowsMakeAsManyUpdatesForEachWindow) {
  for (const std::string& profile : profiles_with_runs()) {
    std::set<double> tokens;
    for (const Yaml& run : runs_of(recipe("recurrence/window", profile))) {
      tokens.insert(number(run, "model.window") * number(run, "model.windows"));
    }
    EXPECT_EQ(tokens.size(), 1U) << profile;
  }
}

TEST(Recipes, OfAdaptiveSpansHaveThePapersPenaltyForTheirLimitInEveryProfile) {
  for (const std::string& name : recipes_of("adaptive-span")) {
    for (const std::string& profile : profiles_with_runs()) {
      for (const Yaml& run : runs_of(recipe(name, profile))) {
        const double limit = said(run, "model.span").empty() ? 0 : number(run, "model.span");
        const double penalty = said(run, "model.span_penalty").empty() ? 2e-6 : number(run, "model.span_penalty");
        EXPECT_EQ(penalty, limit == 8192 ? 0.5e-6 : 2e-6) << name << " " << profile << " " << limit;
      }
    }
  }
}

/// Verdicts compare the names: a recipe with another name for its folder would call every run "not comparable".
TEST(Recipes, CallTheCorpusOfAFolderByOneName) {
  std::map<std::string, std::set<std::string>> names;
  for (const char* folder : {"adaptive-span", "dynamic-pooling", "recurrence"}) {
    for (const std::string& name : recipes_of(folder)) {
      const Yaml tree = recipe(name, "paper");
      const Yaml* corpora = tree.find("corpora");
      if (corpora == nullptr) continue;
      for (const auto& [path, given] : corpora->entries) {
        names[path].insert(given.is_map() ? given.find("name")->scalar : given.scalar);
      }
    }
  }
  EXPECT_GE(names.size(), 8U);
  for (const auto& [path, of_folder] : names) EXPECT_EQ(of_folder.size(), 1U) << path;
}

TEST(Recipes, MeasureTimeAndMemoryInHalfPrecisionAsPublished) {
  EXPECT_THAT(combinations(runs_of(recipe("dynamic-pooling/figure-5", "paper")), {"train.precision"}),
              ElementsAre("bfloat16"));
}

TEST(Recipes, ShowTwoPassagesInFigure2) {
  const Yaml tree = recipe("dynamic-pooling/figure-2", "paper");
  EXPECT_NE(figure_of(tree, "figure-2").find("first")->scalar,
            figure_of(tree, "figure-2-second").find("first")->scalar);
}

TEST(Recipes, CountTheFlopsOfTheRecurrencePaperAsItDoes) {
  for (const char* name : {"recurrence/table-1", "recurrence/table-2"}) {
    const Yaml table = find_exhibits(recipe(name, "paper"), ExhibitKind::kTable).front();
    EXPECT_EQ(table.find("columns")->items.back().find("value")->scalar, "paper_flops") << name;
  }
}

TEST(Recipes, OfMemoriesGiveEveryModelOneBudgetAndThreeSeeds) {
  for (const auto& [profile, flops] : {std::pair("paper", "1e18"), std::pair("small", "1e14")}) {
    const std::vector<Yaml> runs = runs_of(recipe("successors/memory-front", profile));
    EXPECT_EQ(runs.size(), 8U * 3U) << profile;
    EXPECT_THAT(combinations(runs, {"train.flops"}), ElementsAre(flops)) << profile;
    EXPECT_THAT(combinations(runs, {"seed"}), UnorderedElementsAre("1", "2", "3")) << profile;
  }
}

TEST(Recipes, HaveThreeSeedsForTheVariantsOfTheRecurrence) {
  EXPECT_THAT(combinations(runs_of(recipe("recurrence/variants", "paper")), {"seed"}),
              UnorderedElementsAre("1", "2", "3"));
}

TEST(Recipes, OfDynamicPoolingEvaluateThePapersModelsAsThePublishedProgramDoes) {
  for (const std::string& name : recipes_of("dynamic-pooling")) {
    EXPECT_THAT(combinations(runs_of(recipe(name, "paper")), {"eval.max_windows"}), ElementsAre("500")) << name;
    for (const char* profile : {"smoke", "small"}) {
      EXPECT_THAT(combinations(runs_of(recipe(name, profile)), {"eval.max_windows"}), ElementsAre("")) << name;
    }
  }
  EXPECT_GE(recipes_of("dynamic-pooling").size(), 8U);
}

TEST(Recipes, RefuseHebrewThatIsNotThePapers) {
  for (const char* name : {"dynamic-pooling/table-1", "dynamic-pooling/figure-3"}) {
    EXPECT_THAT(required(recipe(name, "paper")), ElementsAre("hebrew_points: space")) << name;
  }
}

TEST(Recipes, GiveEachCorpusOfTable1ItsPriorAndItsVocabularyInEveryProfile) {
  for (const std::string& profile : profiles_with_runs()) {
    const std::vector<Yaml> runs = runs_of(recipe("dynamic-pooling/table-1", profile));
    EXPECT_THAT(combinations(with(runs, "model.boundaries.type", "gumbel"), {"data.path", "model.boundaries.prior"}),
                UnorderedElementsAre("data/text8 0.2", "data/wiki40b-en 0.2", "data/cc-100 0.2", "data/wiki40b-fi 0.37",
                                     "data/wiki40b-he 0.2", "data/wiki40b-vi 0.2"))
        << profile;
    EXPECT_THAT(
        combinations(with(runs, "model.boundaries.type", "unigram"), {"data.path", "model.boundaries.tokenizer"}),
        UnorderedElementsAre("data/text8 unigram-10000", "data/wiki40b-en unigram-10000", "data/cc-100 unigram-10000",
                             "data/wiki40b-fi unigram-200", "data/wiki40b-he unigram-200",
                             "data/wiki40b-vi unigram-10000"))
        << profile;
  }
}

TEST(Recipes, OfDynamicPoolingTrainThePapersModelsForItsSteps) {
  for (const std::string& name : recipes_of("dynamic-pooling")) {
    const bool of_costs = name == "dynamic-pooling/figure-5";  // which measures steps, and needs few
    EXPECT_THAT(combinations(runs_of(recipe(name, "paper")), {"train.steps"}), ElementsAre(of_costs ? "200" : "200000"))
        << name;
  }
}

TEST(Recipes, ShowTheSpansOfThePapersModelInFigure4) {
  const Yaml tree = recipe("adaptive-span/span-limit", "paper");
  for (const char* name : {"spans", "span-of-every-head"}) {
    const Yaml figure = figure_of(tree, name);
    const Yaml* where = figure.find("where");
    ASSERT_NE(where, nullptr) << name;
    EXPECT_EQ(where->find("model.span")->scalar, "4096") << name;
    EXPECT_EQ(where->find("model.span_type")->scalar, "adaptive") << name;
  }
}

TEST(Recipes, OfSpanLimitsHaveThePapersLengthsPenaltyAndDynamicSpan) {
  EXPECT_THAT(combinations(runs_of(recipe("adaptive-span/span-limit", "paper")),
                           {"model.span_type", "model.span", "model.span_penalty", "train.steps"}),
              UnorderedElementsAre("fixed 256  600000", "fixed 512  600000", "fixed 1024  600000", "fixed 2048  600000",
                                   "fixed 4096  600000", "adaptive 256  600000", "adaptive 512  600000",
                                   "adaptive 1024  600000", "adaptive 2048  600000", "adaptive 4096  600000",
                                   "adaptive 8192 0.5e-6 900000", "dynamic 1024  600000"));
}

TEST(Recipes, OfSpansTrainTheSmallModelOfEnwik8AsLongAsThePublishedScript) {
  const std::vector<std::string> keys{"model.span", "model.span_penalty", "train.steps", "optimizer.drop_after"};
  EXPECT_THAT(combinations(runs_of(recipe("adaptive-span/table-2", "paper")), keys),
              UnorderedElementsAre("8192 0.5e-6 600000 0", "8192 0.5e-6 170000 150000"));
  EXPECT_THAT(combinations(runs_of(recipe("adaptive-span/table-1", "paper")), keys),
              UnorderedElementsAre("8192 0.5e-6 900000 0", "8192 0.5e-6 270000 250000"));
}

}  // namespace
}  // namespace xlm
