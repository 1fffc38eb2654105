// In which keys runs are not the paper's.
#include "results/tables/paper_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Settings = SettingList;

Run run_with(const std::string& id, const Settings& settings) {
  Run run;
  run.id = id;
  run.status = RunStatus::kDone;
  run.params = settings;
  return run;
}

/// Keys in which a run of ours is not as the paper's.
std::vector<std::string> apart(PaperRunsKnown known, const Settings& ours, const std::set<std::string>& may_differ = {},
                               const std::vector<std::size_t>& of_paper = {}) {
  for (const Run& run : known.runs) {
    for (const auto& [key, value] : run.params) known.keys.insert(key);
  }
  PaperRuns paper(std::move(known));
  Store store = Store::in_memory();
  store.add({run_with("ours", ours)});
  RunTable runs(store);
  std::vector<std::string> texts;
  for (const KeyApart& one : paper.keys_apart(runs, {0}, of_paper, may_differ)) texts.push_back(to_text(one));
  return texts;
}

const Settings kPaper{{"model.type", "hourglass"},  {"model.width", 512},           {"model.layers", {2, 8, 2}},
                      {"train.steps", 200'000},     {"train.precision", "float32"}, {"seed", 1},
                      {"train.eval_every", 10'000}, {"data.name", "text8-en"}};

Settings with(const Settings& changes) {
  Settings settings = kPaper;
  for (const auto& [key, value] : changes) {
    for (auto& [known, old] : settings) {
      if (known == key) old = value;
    }
  }
  return settings;
}

TEST(PaperRuns, SizesDataStepsAndPrecisionMatter) {
  const PaperRunsKnown known{.runs = {run_with("a", kPaper)}};
  EXPECT_THAT(apart(known, kPaper), IsEmpty());
  EXPECT_THAT(apart(known, with({{"model.width", 64}, {"train.steps", 60}, {"model.layers", {1, 2, 1}}})),
              ElementsAre("model.layers=[1,2,1] (paper: [2,8,2])", "model.width=64 (paper: 512)",
                          "train.steps=60 (paper: 200000)"));
  EXPECT_THAT(apart(known, with({{"train.precision", "bfloat16"}, {"data.name", "enwik8"}})),
              ElementsAre("data.name=enwik8 (paper: text8-en)", "train.precision=bfloat16 (paper: float32)"));
}

TEST(PaperRuns, TheBeginningOfACorpusIsAnotherOne) {
  Settings paper = kPaper;
  paper.emplace_back(kTrainTokens, 90'000'000);
  const PaperRunsKnown known{.runs = {run_with("a", paper)}};
  Settings ours = kPaper;
  EXPECT_THAT(apart(known, ours), IsEmpty()) << "an older program did not record it";
  ours.emplace_back(kTrainTokens, 4'053'277);
  EXPECT_THAT(apart(known, ours), ElementsAre("data.train_tokens=4053277 (paper: 90000000)"));
  ours.back().second = 90'000'000;
  EXPECT_THAT(apart(known, ours), IsEmpty());
  EXPECT_THAT(apart({.runs = {run_with("a", kPaper)}}, ours), IsEmpty()) << "the recipe does not say it";
}

TEST(PaperRuns, SeedsAndHowOftenIsEvaluatedDoNot) {
  const PaperRunsKnown known{.runs = {run_with("a", kPaper)}};
  EXPECT_THAT(apart(known, with({{"seed", 7}, {"train.eval_every", 500}})), IsEmpty());
  EXPECT_THAT(apart(known, with({{"model.width", 64}}), {"model.width"}), IsEmpty()) << "the table allows it";
}

TEST(PaperRuns, AnyOfTheCellsPaperRunsMayBeMet) {
  const PaperRunsKnown known{
      .runs = {run_with("a", kPaper), run_with("b", with({{"model.width", 768}, {"train.steps", 90}}))}};
  const Settings wide = with({{"model.width", 768}});
  EXPECT_THAT(apart(known, wide), IsEmpty());
  EXPECT_THAT(apart(known, wide, {}, {0}), ElementsAre("model.width=768 (paper: 512)"));
  EXPECT_THAT(apart(known, with({{"model.width", 64}})), ElementsAre("model.width=64")) << "the paper has two";
}

TEST(PaperRuns, WhatTheRecipeLeavesToTheUserMustBeThere) {
  Settings ours = kPaper;
  PaperRunsKnown known{.runs = {run_with("a", kPaper)}, .keys = {"model.pretrained"}, .required = {"model.pretrained"}};
  EXPECT_THAT(apart(known, ours), ElementsAre("no model.pretrained"));
  ours.emplace_back("model.pretrained", "");
  EXPECT_THAT(apart(known, ours), ElementsAre("no model.pretrained"));
  ours.back().second = "weights/gpt2";
  EXPECT_THAT(apart(known, ours), IsEmpty());
}

TEST(PaperRuns, CorporaThatNothingNamesAndKeysThatRunsDoNotKnowAreNotCompared) {
  const PaperRunsKnown known{.runs = {run_with("a", with({{"data.name", "data/text8"}}))}, .unnamed = {"data/text8"}};
  EXPECT_THAT(apart(known, kPaper), IsEmpty());
  EXPECT_THAT(apart(known, {{"model.type", "hourglass"}, {"train.steps", 200'000}}), IsEmpty()) << "an older run";
  EXPECT_THAT(apart(known, {{"train.steps", 200'000}}), ElementsAre("no model.type")) << "another program's";
}

}  // namespace
}  // namespace xlm
