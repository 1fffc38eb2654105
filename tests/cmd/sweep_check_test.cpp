// xlm sweep --check: every recipe can be filled in every profile, and each kind of defect is found.
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/error.h"
#include "base/text.h"
#include "experiments/checks/recipe_check.h"
#include "experiments/checks/supposed_winners.h"
#include "experiments/configuration/configuration.h"
#include "tests/experiments/experiment_files.h"
#include "tests/experiments/program.h"
#include "tests/growth.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<fs::path> recipes_below(const std::string& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(XLM_SOURCE_DIR) / folder)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// The profiles of a recipe, and none.
std::vector<std::string> profiles_of(const fs::path& recipe) {
  std::vector<std::string> names{""};
  const Yaml file = read_yaml(recipe);
  if (const Yaml* profiles = file.find("profiles")) {
    for (const auto& [name, over] : profiles->entries) names.push_back(name);
  }
  return names;
}

RecipeCheck check(const fs::path& recipe, const std::string& profile = "") {
  const Yaml tree = read_configuration(recipe, profile, {});
  return check_recipe(recipe_of(tree), read_exhibits(tree), is_paper_profile(read_yaml(recipe), profile));
}

std::string text_of(const std::vector<RecipeFinding>& findings) {
  std::string text;
  for (const RecipeFinding& finding : findings) text += finding.place + ": " + finding.message + "\n";
  return text;
}

/// A test for each recipe: together they take a minute under sanitizers.
class EveryRecipe : public ::testing::TestWithParam<fs::path> {};

TEST_P(EveryRecipe, CanBeFilledInEveryProfile) {
  for (const std::string& profile : profiles_of(GetParam())) {
    const RecipeCheck result = check(GetParam(), profile);
    EXPECT_THAT(text_of(result.findings), IsEmpty()) << profile;
    EXPECT_GT(result.tables + result.figures, 0U) << profile;
  }
}

/// The folder and name of a recipe, as letters and digits.
std::string name_of_recipe(const ::testing::TestParamInfo<fs::path>& recipe) {
  std::string name = recipe.param.parent_path().filename().string() + "_" + recipe.param.stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Recipes, EveryRecipe, ::testing::ValuesIn(recipes_below("experiments/recipes")),
                         name_of_recipe);

TEST(SweepCheck, RecipesAreFound) { EXPECT_GE(recipes_below("experiments/recipes").size(), 18U); }

TEST(SweepCheck, ExamplesOfASearchCanBeFilled) {
  const std::vector<fs::path> examples = recipes_below("examples/search");
  EXPECT_THAT(examples, SizeIs(2));
  for (const fs::path& example : examples) {
    const RecipeCheck result = check(example);
    EXPECT_THAT(text_of(result.findings), IsEmpty()) << example;
    EXPECT_GE(result.figures, 1U) << example;
  }
}

/// The keys by which a `xlm pareto` in the header of a recipe groups runs.
std::vector<std::string> pareto_keys(const fs::path& recipe) {
  const std::string text = read_file(recipe);
  const std::string option = "--group-by ";
  const std::size_t place = text.find(option);
  if (place == std::string::npos) return {};
  const std::size_t begin = place + option.size();
  return split(text.substr(begin, text.find_first_of(" \n", begin) - begin), ',');
}

TEST(SweepCheck, CommandsInHeadersMakeOnePointOfSeedsAlone) {
  std::size_t commands = 0;
  for (const fs::path& recipe : recipes_below("experiments/recipes")) {
    const std::vector<std::string> keys = pareto_keys(recipe);
    if (keys.empty()) continue;
    ++commands;
    const SupposedSweep sweep = suppose(recipe_of(read_configuration(recipe, "paper", {})), {}, suppose_winners());
    std::map<std::string, std::string> points;  // the settings of each group, without keys that tell runs apart by name
    for (const xlm::Run& run : sweep.runs) {
      std::string group;
      std::string settings;
      for (const std::string& key : keys) {
        const Json* value = run.param(key);
        group += (value == nullptr ? "" : value->dump()) + " ";
      }
      for (const std::string& key : sweep.setting_keys) {
        const bool expected = key == "seed" || key == "model.overlap" || key == "model.windows" || key == "train.block";
        if (expected) continue;
        const Json* value = run.param(key);
        settings += key + "=" + (value == nullptr ? "" : value->dump()) + "\n";
      }
      EXPECT_EQ(points.try_emplace(group, settings).first->second, settings) << recipe << " " << group;
    }
  }
  EXPECT_GE(commands, 4U);
}

TEST(SweepCheck, RunsFromOthersCountAndTheirSourcesMustBePoints) {
  const TemporaryFolder folder;
  const auto checked = [&](const std::string& source) {
    write_file(folder.path() / "two.yaml", run_config("data",
                                                      "sweep:\n"
                                                      "  grid: {model.span: [16, 8], model.init_from: ['', " +
                                                          source +
                                                          "]}\n"
                                                          "  when: {model.init_from: {model.span: 8}}\n"));
    return check(folder.path() / "two.yaml").sweep.runs.size();
  };
  EXPECT_EQ(checked("{model.span: 16}"), 3U);
  EXPECT_THROW(checked("{model.span: 4}"), UsageError);
  EXPECT_THROW(checked("{model.spam: 4}"), UsageError);
  EXPECT_THROW(checked("{}"), UsageError);
}

TEST(SweepCheck, ARecipesPathMayHaveSpaces) {
  const TemporaryFolder folder;
  const fs::path recipe = folder.path() / "a $& place" / "recipe.yaml";
  create_folders(recipe.parent_path());
  fs::copy_file(recipes_below("experiments/recipes").front(), recipe);
  EXPECT_THAT(text_of(check(recipe, profiles_of(recipe).front()).findings), IsEmpty());
}

/// The lines "# finds: TEXT" of a recipe.
std::vector<std::string> expected_findings(const fs::path& recipe) {
  std::vector<std::string> expected;
  std::istringstream text(read_file(recipe));
  const std::string mark = "# finds: ";
  for (std::string line; std::getline(text, line);) {
    if (!line.starts_with(mark)) continue;
    expected.push_back(line.substr(mark.size()));
  }
  return expected;
}

TEST(SweepCheck, FindsEachKindOfDefectAndNothingElse) {
  const std::vector<fs::path> recipes = recipes_below("tests/cmd/faulty_recipes");
  EXPECT_GE(recipes.size(), 21U);
  for (const fs::path& recipe : recipes) {
    const std::vector<RecipeFinding> findings = check(recipe).findings;
    const std::vector<std::string> expected = expected_findings(recipe);
    EXPECT_THAT(findings, SizeIs(expected.size())) << recipe << "\n" << text_of(findings);
    for (std::size_t i = 0; i < std::min(findings.size(), expected.size()); ++i) {
      EXPECT_THAT(findings[i].message, HasSubstr(expected[i])) << recipe << "\n" << text_of(findings);
      EXPECT_THAT(findings[i].place, HasSubstr(recipe.filename().string() + ":"));
    }
  }
}

TEST(SweepCheck, TakesTimeLinearInThePoints) {
  const TemporaryFolder folder;
  for (const char* table : {"", "tables: [{table: T, rows: model.span, cells: {value: test.bpc}}]\n"}) {
    const auto check_of = [&](int points) {
      std::string seeds;
      for (int seed = 1; seed <= points; ++seed) seeds += fmt::format("{}{}", seed == 1 ? "" : ", ", seed);
      const fs::path recipe = folder.path() / fmt::format("{}.yaml", points);
      write_file(recipe, run_config("data", fmt::format("sweep: {{grid: {{seed: [{}]}}}}\n{}", seeds, table)));
      return [recipe] { EXPECT_THAT(check(recipe).findings, IsEmpty()); };
    };
    EXPECT_LT(growth(check_of(100), check_of(1600)), 64) << table;
  }
}

constexpr const char* kSmallRecipe =
    "# A recipe.\n# It is small.\n"
    "data: {path: data}\nmodel: {type: adaptive-span}\ntrain: {steps: 100}\n"
    "sweep: {grid: {model.span: [64, 256]}}\n"
    "tables: [{table: T, rows: model.span, cells: {value: test.bpc}}]\n";

class SweepCheckCommand : public ::testing::Test {
 protected:
  ProgramResult xlm(const std::string& arguments) const {
    return shell(folder_.path(), "'" XLM_BINARY "' " + arguments);
  }
  void write(const std::string& text) const { write_file(folder_.path() / "r.yaml", text); }

  TemporaryFolder folder_;
};

TEST_F(SweepCheckCommand, ReportsWithoutDataAndWritesNothing) {
  write(kSmallRecipe);
  const ProgramResult result = xlm("sweep r.yaml --check");
  EXPECT_EQ(result.code, kDone) << result.err;
  EXPECT_EQ(result.out,
            "r.yaml: 2 runs, 0 evaluations, 1 table, 0 figures: every row, column and figure has its runs\n");
  EXPECT_FALSE(fs::exists(folder_.path() / "runs"));
}

TEST_F(SweepCheckCommand, FindingsAreAUsageErrorWithPlaceAndAdvice) {
  write(std::string(kSmallRecipe) + "figures:\n  - {figure: F, kind: scatter, grid: spans}\n");
  const ProgramResult result = xlm("sweep r.yaml --check");
  EXPECT_EQ(result.code, kUsage);
  EXPECT_THAT(result.out,
              HasSubstr("r.yaml:9: figure 'f' shows one of several runs that differ in model.span\n  separate "));
  EXPECT_THAT(result.out, HasSubstr("1 finding to correct"));
  const ProgramResult json = xlm("sweep r.yaml --check --json");
  EXPECT_EQ(json.code, kUsage);
  const Json parsed = parse_json(json.out, "check");
  EXPECT_EQ(parsed["runs"], 2);
  EXPECT_EQ(parsed["findings"].at(0)["place"], "r.yaml:9");
  EXPECT_EQ(xlm("sweep r.yaml --check model.span=64").code, kDone) << "an override leaves one run";
  EXPECT_EQ(xlm("sweep r.yaml --check --dry-run").code, kUsage);
}

TEST_F(SweepCheckCommand, TakesARecipeThroughAPipe) {
  write(kSmallRecipe);
  const ProgramResult result = shell(folder_.path(), "cat r.yaml | '" XLM_BINARY "' sweep /dev/stdin --check");
  EXPECT_EQ(result.code, kDone) << result.err;
  EXPECT_THAT(result.out, HasSubstr("/dev/stdin: 2 runs"));
}

TEST_F(SweepCheckCommand, RefusesWhatTheSweepWouldRefuseAndWritesNothing) {
  write(kSmallRecipe);
  make_data(folder_.path() / "data");
  for (const char* slip : {"sweep.early_stopping=5", "sweep.early_stopping={keep: 1}", "resources.time=soon",
                           "resources.memory=5", "sweep.grid.model.span=[0]"}) {
    const ProgramResult checked = xlm(fmt::format("sweep r.yaml --check '{}'", slip));
    EXPECT_EQ(checked.code, kUsage) << slip;
    EXPECT_THAT(checked.err, HasSubstr(fmt::format("'{}'", slip))) << slip;
    EXPECT_EQ(xlm(fmt::format("sweep r.yaml '{}'", slip)).err, checked.err) << slip;
  }
  EXPECT_FALSE(fs::exists(folder_.path() / "runs"));
}

TEST_F(SweepCheckCommand, AFolderIsTheSameHoweverItIsWritten) {
  write(
      "data: {path: data/text8}\ncorpora: {data/text8: text8-en}\nmodel: {type: adaptive-span}\ntrain: {steps: 100}\n"
      "tables: [{table: T, where: {data.name: text8-en}, rows: model.span, cells: {value: test.bpc}}]\n");
  for (const char* path : {"data/text8", "./data/text8", "data/text8/", "data//text8", "other/../data/text8"}) {
    EXPECT_EQ(xlm(fmt::format("sweep r.yaml --check data.path={}", path)).code, kDone) << path;
  }
  EXPECT_EQ(xlm("sweep r.yaml --check data.path=data/text9").code, kUsage);
}

TEST_F(SweepCheckCommand, APreparedFolderDeterminesTheCorpus) {
  make_data(folder_.path() / "data");
  const std::string by_name = "where: {data.name: abc}, ";
  const std::string table = "tables: [{table: T, " + by_name + "rows: model.span, cells: {value: test.bpc}}]\n";
  const std::string run = "data: {path: data}\nmodel: {type: adaptive-span}\ntrain: {steps: 100}\n";
  write(run + table);
  EXPECT_EQ(xlm("sweep r.yaml --check").code, kDone);
  write(run + "corpora: {data: text8-en}\n" + table);
  const ProgramResult result = xlm("sweep r.yaml --check");
  EXPECT_EQ(result.code, kUsage);
  EXPECT_THAT(result.out, HasSubstr("data holds abc, but 'corpora' gives another name"));
}

}  // namespace
}  // namespace xlm
