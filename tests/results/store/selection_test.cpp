// Choosing settings by a measured number.
#include "results/store/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "results/store/pareto.h"
#include "tests/results/tuned_runs.h"
#include "tests/thrown_message.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Selection by_validation() { return {.over = {"optimizer.lr"}, .by = "valid.bpc"}; }

Selection selection_in(const std::string& yaml) { return read_selection(parse_yaml(yaml, "choose.yaml")); }

std::string refusal_of(const std::string& yaml) {
  return thrown_message([&] { (void)selection_in(yaml); });
}

TEST(ReadSelection, TakesAKeyOrAList) {
  EXPECT_THAT(selection_in("{over: optimizer.lr, by: valid.bpc}").over, ElementsAre("optimizer.lr"));
  const Selection two = selection_in("{over: [optimizer.lr, train.batch], by: valid.loss}");
  EXPECT_THAT(two.over, ElementsAre("optimizer.lr", "train.batch"));
  EXPECT_EQ(two.by, "valid.loss");
  EXPECT_TRUE(two.is_asked());
  EXPECT_FALSE(Selection().is_asked());
}

TEST(ReadSelection, RefusesWhatIsNoChoiceOnValidation) {
  EXPECT_THAT(refusal_of("{over: optimizer.lr, by: test.bpc}"), HasSubstr("choose.yaml:1: a choice by test.bpc"));
  EXPECT_THAT(refusal_of("{over: optimizer.lr, by: '=valid.bpc+test.bpc'}"), HasSubstr("on the test split"));
  EXPECT_THAT(refusal_of("{over: optimizer.lr, by: test.bpc@data.name=pg-19}"), HasSubstr("on the test split"));
  EXPECT_THAT(refusal_of("{over: seed, by: valid.bpc}"), HasSubstr("over its seeds"));
  EXPECT_THAT(refusal_of("{over: data.name, by: valid.bpc}"), HasSubstr("another task"));
  EXPECT_THAT(refusal_of("{over: at.model.overlap, by: valid.bpc}"), HasSubstr("a key of the configuration"));
  EXPECT_THAT(refusal_of("{over: optimizer.lr, by: valid.bpc, as: best}"), HasSubstr("'as'"));
  for (const char* form : {"valid.bpc", "{over: optimizer.lr}", "{by: valid.bpc}", "{over: [], by: valid.bpc}"}) {
    EXPECT_THAT(refusal_of(form), HasSubstr("choose takes")) << form;
  }
}

TEST(ReadSelection, OfACommandLineNeedsBothParts) {
  EXPECT_FALSE(selection_of({}, "").is_asked());
  EXPECT_EQ(selection_of({"optimizer.lr"}, "valid.bpc").by, "valid.bpc");
  EXPECT_THROW(selection_of({"optimizer.lr"}, ""), UsageError);
  EXPECT_THROW(selection_of({}, "valid.bpc"), UsageError);
  EXPECT_THROW(selection_of({"optimizer.lr"}, "test.bpc"), UsageError);
}

class Selections : public ::testing::Test {
 protected:
  Selections() {
    make_tuned_runs(maker_);
    store_.sync(maker_.runs());
  }

  /// The choice among the runs that fulfil the conditions.
  SettingChoice chosen(const std::vector<std::string>& where = {}, const Selection& selection = by_validation()) {
    RunTable runs(store_);
    return choose_rows(runs, runs.select(parse_filters(where)), selection, "seed");
  }

  /// Rates and seeds of the chosen rows.
  std::vector<std::string> settings_of(const SettingChoice& choice) {
    RunTable runs(store_);
    std::vector<std::string> texts;
    for (const std::size_t row : choice.rows) {
      texts.push_back(to_text(runs.column("optimizer.lr")[row]) + "/" + to_text(runs.column("seed")[row]));
    }
    return texts;
  }

  TemporaryFolder temporary_;
  RunMaker maker_{temporary_.path() / "runs"};
  Store store_ = Store::in_memory();
};

TEST_F(Selections, EachFamilyKeepsTheSettingThatIsBestOnValidation) {
  const SettingChoice choice = chosen();
  EXPECT_THAT(settings_of(choice), ElementsAre("0.02/1", "0.02/2", "0.01/1", "0.01/2"));
  ASSERT_EQ(choice.settings.size(), 2U);
  EXPECT_EQ(choice.settings[0].family, "model.span=64");
  EXPECT_EQ(chosen_text(by_validation(), choice.settings[0]), "optimizer.lr=0.02");
  EXPECT_EQ(choice.settings[0].candidates, 3U);
  EXPECT_FALSE(choice.settings[0].is_at_end) << "0.04 was tried, too, though it diverged";
  EXPECT_EQ(choice.settings[1].family, "model.span=256");
  EXPECT_FALSE(choice.settings[1].is_at_end) << "two values have no middle";
  EXPECT_EQ(choice.open, 0U);
  EXPECT_THAT(choice.undecided, IsEmpty());
}

TEST_F(Selections, WithoutAnyEverythingStays) {
  EXPECT_EQ(chosen({}, Selection()).rows.size(), 10U);
  EXPECT_THAT(choice_notes(Selection(), {{"", chosen({}, Selection())}}), IsEmpty());
}

TEST_F(Selections, ASettingWithADivergedRunCannotBeChosen) {
  const SettingChoice lost = chosen({"optimizer.lr=0.04"});
  EXPECT_THAT(lost.rows, IsEmpty());
  EXPECT_THAT(lost.undecided, ElementsAre(""));
  EXPECT_THAT(choice_notes(by_validation(), {{"", lost}}),
              ElementsAre("Nothing can be chosen: each setting has a run that diverged or was pruned, or none that is "
                          "done with a valid bpc."));
}

TEST_F(Selections, RunsThatAreNotDoneMayChangeTheChoice) {
  maker_.make({.id = "adaptive-span-text8-00000800",
               .experiment = "tuned",
               .span = 256,
               .seed = 3,
               .state = "running",
               .lr = 0.03});
  store_.sync(maker_.runs());
  const SettingChoice choice = chosen({"model.span=256"});
  EXPECT_THAT(settings_of(choice), ElementsAre("0.01/1", "0.01/2"));
  EXPECT_EQ(choice.open, 1U);
  EXPECT_TRUE(choice.settings.at(0).is_at_end) << "of 0.01, 0.02 and 0.03";
  EXPECT_THAT(choice_notes(by_validation(), {{"", choice}}),
              ElementsAre("Chosen by the best mean valid bpc: optimizer.lr=0.01.",
                          "1 run to choose among is not done: the choice may change.",
                          "A chosen value is the least or the greatest that was tried: a wider range may be better."));
}

TEST_F(Selections, KeysThatChangeWithTheChosenOneAreNamed) {
  for (const int number : {0x701, 0x702}) {
    const fs::path config = RunPaths{maker_.folder(fmt::format("adaptive-span-text8-{:08x}", number))}.config();
    write_file(config, read_file(config) + "schedule: {warmup: 10}\n");
    const MadeRun run{.id = fmt::format("adaptive-span-text8-{:08x}", number)};
    maker_.journal(run).append("message", {{"text", "its configuration is another one"}});  // so that it is read again
  }
  store_.sync(maker_.runs());
  const std::vector<std::string> two{"model.span=64", "optimizer.lr=0.01,0.02"};
  EXPECT_EQ(chosen(two).rows.size(), 4U) << "each rate is a family alone";
  EXPECT_THAT(choice_notes(by_validation(), {{"A", chosen(two)}}),
              ElementsAre("Nothing was chosen by valid bpc: no two settings differ in optimizer.lr alone. Keys that "
                          "change with it belong into `over`, too."));
  const Selection both{.over = {"optimizer.lr", "schedule.warmup"}, .by = "valid.bpc"};
  const SettingChoice choice = chosen(two, both);
  EXPECT_EQ(choice.rows.size(), 2U);
  EXPECT_EQ(chosen_text(both, choice.settings.at(0)), "optimizer.lr=0.02 and schedule.warmup=null");
}

TEST_F(Selections, MoreIsBetterWhereTheQuantitySaysSo) {
  for (const auto& [number, factor] :
       {std::pair(0x707, 2.0), std::pair(0x708, 2.0), std::pair(0x709, 3.0), std::pair(0x70a, 3.0)}) {
    Json record = RunMaker::evaluation("valid", 1.1);
    record["values"]["shortening_factor"] = factor;
    const MadeRun run{.id = fmt::format("adaptive-span-text8-{:08x}", number), .time = 5000};
    maker_.journal(run).append("evaluation", record);
  }
  store_.sync(maker_.runs());
  const Selection by_factor{.over = {"optimizer.lr"}, .by = "valid.shortening_factor"};
  EXPECT_THAT(settings_of(chosen({"model.span=256"}, by_factor)), ElementsAre("0.02/1", "0.02/2"));
}

TEST_F(Selections, OfEqualSettingsTheFirstValueIsChosen) {
  maker_.make({.id = "adaptive-span-text8-00000001",
               .experiment = "tuned",
               .span = 256,
               .seed = 1,
               .bpc = 9,
               .lr = 0.005,
               .valid = 1.11});
  store_.sync(maker_.runs());
  EXPECT_THAT(settings_of(chosen({"model.span=256"})), ElementsAre("0.005/1")) << "1.11, as the mean of 0.01";
}

TEST_F(Selections, EvaluationsCountWithTheNumberOfTheirRun) {
  for (const int number : {0x707, 0x708, 0x709, 0x70a}) {
    maker_.evaluate({.id = fmt::format("adaptive-span-text8-{:08x}", number), .time = 5000}, "test", 0.001 * number,
                    {{"eval.batch", 1}});
  }
  store_.sync(maker_.runs());
  const SettingChoice choice = chosen({"model.span=256", "at.eval.batch=1"});
  EXPECT_THAT(settings_of(choice), ElementsAre("0.01/1", "0.01/2")) << "validation was not measured so";
}

TEST_F(Selections, RefuseResultsAsKeysAndKeysAsResults) {
  EXPECT_THROW(chosen({}, {.over = {"test.average_span"}, .by = "valid.bpc"}), UsageError);
  EXPECT_THROW(chosen({}, {.over = {"optimizer.lrr"}, .by = "valid.bpc"}), UsageError);
  EXPECT_THROW(chosen({}, {.over = {"optimizer.lr"}, .by = "train.steps"}), UsageError);
  EXPECT_THROW(chosen({}, {.over = {"optimizer.lr"}, .by = "valid.nothing_like_it"}), UsageError);
}

TEST_F(Selections, NotesNamePlacesByWhatWasChosenThere) {
  const SettingChoice narrow = chosen({"model.span=64"});
  const SettingChoice wide = chosen({"model.span=256"});
  EXPECT_THAT(
      choice_notes(by_validation(), {{"A", narrow}, {"B", wide}, {"C", wide}}),
      ElementsAre("Chosen by the best mean valid bpc: optimizer.lr=0.02 for A; optimizer.lr=0.01 for B and C."));
  EXPECT_THAT(choice_notes(by_validation(), {{"A", wide}, {"B", wide}, {"C", wide}}),
              ElementsAre("Chosen by the best mean valid bpc: optimizer.lr=0.01 everywhere."));
  EXPECT_THAT(choice_notes(by_validation(), {{"", chosen()}}),
              ElementsAre("Chosen by the best mean valid bpc: optimizer.lr=0.02 for model.span=64; optimizer.lr=0.01 "
                          "for model.span=256."));
}

TEST_F(Selections, AParetoFrontIsOfTheChosenSettings) {
  RunTable runs(store_);
  ParetoQuery query{.columns = {"flops_per_token", "test.bpc"},
                    .maximize = {false, false},
                    .group_by = {"model.span"},
                    .where = {},
                    .reference = {},
                    .choose = by_validation()};
  const ParetoResult result = run_pareto(runs, query);
  const ParetoFront& front = result.fronts.at(0).front;
  ASSERT_EQ(front.front.size(), 2U);
  EXPECT_NEAR(front.front[0].values[1], 1.61, 1e-12);
  EXPECT_NEAR(front.front[1].values[1], 1.22, 1e-12);
  EXPECT_FALSE(result.mixed) << "the points are of one rate";
  EXPECT_EQ(result.incomplete, 0) << "the diverged run was not chosen";
  EXPECT_THAT(to_json(query, result)["notes"][0].get<std::string>(), HasSubstr("optimizer.lr=0.02 for model.span=64"));
  query.group_by.clear();
  const ParetoFront each = run_pareto(runs, query).fronts.at(0).front;
  EXPECT_EQ(each.front.size() + each.dominated.size(), 4U) << "each run of a chosen setting is a point";
}

}  // namespace
}  // namespace xlm
