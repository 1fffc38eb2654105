// Which way numbers are better that only the program of a run knows, and what refuses to guess.
#include "results/store/directions.h"

#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "results/claims/judged_claim.h"
#include "results/exhibits/exhibits.h"
#include "results/figures/figures.h"
#include "results/run_folder/remark.h"
#include "results/store/variation.h"
#include "results/tables/table.h"
#include "tests/results/run_maker.h"
#include "tests/thrown_message.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

class Directions : public ::testing::Test {
 protected:
  /// Three runs with rising accuracy and rising cost; each declares `better`, which may be empty.
  void add_runs(const std::string& better) {
    for (int number = 1; number <= 3; ++number) {
      const MadeRun run{
          .id = fmt::format("run-{}", number), .span = 64 * number, .flops = 1e6 * number, .time = 1000.0 * number};
      maker_.make(run);
      declare(run, better);
      Json record = RunMaker::evaluation("test", 1.5);
      record["values"]["accuracy"] = 0.25 * number;
      maker_.journal(run).append("evaluation", record);
    }
    store_.sync(maker_.runs());
  }

  void declare(const MadeRun& run, const std::string& better) const {
    if (better.empty()) return;
    const fs::path config = RunPaths{maker_.folder(run.id)}.config();
    write_file(config, read_file(config) + fmt::format("program: {{better: {{accuracy: {}}}}}\n", better));
  }

  void record(const std::string& id, const std::string& better) {
    Json values = Json::object();
    values["accuracy"] = better;
    maker_.journal({.id = id}).append("better", {{"values", values}});
    store_.sync(maker_.runs());
  }

  static std::vector<std::size_t> all_rows(RunTable& runs) { return runs.select({}); }

  Table table(const std::string& cells, const std::string& more = "") {
    RunTable runs(store_);
    const Yaml yaml =
        parse_yaml("table: T\nrows: model.span\ncells: {value: test.accuracy, " + cells + "}\n" + more, "t.yaml");
    const auto description = read_table_description(find_exhibits(yaml, ExhibitKind::kTable).front());
    return std::get<Table>(build_table(runs, description, {}));
  }

  std::vector<std::string> best_rows(const std::string& cells, const std::string& more = "") {
    std::vector<std::string> labels;
    for (const TableRow& row : table(cells, more).rows) {
      if (row.cells.front().best) labels.push_back(row.label);
    }
    return labels;
  }

  ClaimPart claim(const std::string& expectation) {
    RunTable runs(store_);
    const Yaml yaml = parse_yaml(
        "claim: C\nvalue: test.accuracy\na: {model.span: 128}\nb: {model.span: 64}\n" + expectation, "c.yaml");
    return judge_claim(runs, read_claim_description(find_exhibits(yaml, ExhibitKind::kClaim).front()), {})
        .parts.front();
  }

  Figure figure(const std::string& more) {
    RunTable runs(store_);
    const Yaml yaml =
        parse_yaml("figure: F\nx: flops_per_token\ny: test.accuracy\nseries: seed\n" + more + "\n", "f.yaml");
    const auto description = read_figure_description(find_exhibits(yaml, ExhibitKind::kFigure).front());
    return std::get<Figure>(build_figure(runs, description, {}));
  }

  TemporaryFolder temporary_;
  RunMaker maker_{temporary_.path() / "runs"};
  Store store_ = Store::in_memory();
};

TEST(KnownDirections, AreThoseOfTheTableAndOfWhatIsMeasuredOfEveryRun) {
  EXPECT_EQ(known_direction("bpc"), Better::kLower);
  EXPECT_EQ(known_direction("boundary_recall"), Better::kHigher);
  EXPECT_EQ(known_direction("wall_seconds"), Better::kLower);
  EXPECT_EQ(known_direction("accuracy"), std::nullopt);
  EXPECT_EQ(quantity_in("test.f1.macro@data.name=pg-19"), "f1.macro");
  EXPECT_EQ(quantity_in("params"), "params");
  EXPECT_EQ(quantity_in("costs"), "costs");
}

TEST_F(Directions, OfSettingsAndKnownQuantitiesNeedNoDeclaration) {
  add_runs("");
  RunTable runs(store_);
  EXPECT_EQ(direction_of(runs, all_rows(runs), "test.bpc"), Better::kLower);
  EXPECT_EQ(direction_of(runs, all_rows(runs), "test.bpc@model.span=64"), Better::kLower);
  EXPECT_EQ(direction_of(runs, all_rows(runs), "model.span"), Better::kLower);
  EXPECT_EQ(direction_of(runs, all_rows(runs), "=test.bpc / params"), Better::kLower);
  EXPECT_EQ(direction_of(runs, all_rows(runs), "test.accuracy"), std::nullopt);
  EXPECT_EQ(direction_of(runs, all_rows(runs), "=1 - test.accuracy"), std::nullopt);
}

TEST_F(Directions, AreWhatTheRunsDeclare) {
  add_runs("higher");
  RunTable runs(store_);
  EXPECT_EQ(direction_of(runs, all_rows(runs), "test.accuracy"), Better::kHigher);
  EXPECT_EQ(direction_of(runs, all_rows(runs), "test.accuracy@model.span=64"), Better::kHigher);
  EXPECT_EQ(front_direction(runs, all_rows(runs), "test.accuracy", "a", "b"), Better::kHigher);
  EXPECT_EQ(front_direction(runs, all_rows(runs), "test.bpc", "a", "b"), Better::kLower);
  EXPECT_EQ(direction_of(runs, all_rows(runs), "=1 - test.accuracy"), std::nullopt) << "a formula may turn it round";
}

TEST_F(Directions, MayBeDeclaredOrCorrectedByTheJournal) {
  add_runs("");
  record("run-1", "lower");
  EXPECT_THAT(best_rows("best: true"), ElementsAre("64"));
  record("run-1", "higher");
  EXPECT_THAT(best_rows("best: true"), ElementsAre("192"));
}

TEST_F(Directions, ThatContradictEachOtherAreAnErrorThatNamesTheRuns) {
  add_runs("higher");
  record("run-2", "lower");
  EXPECT_THAT(thrown_message([&] { table("best: true"); }),
              AllOf(HasSubstr("both directions of 'accuracy'"), HasSubstr("run-2 says that lower is better"),
                    HasSubstr("run-1 that higher is")));
  EXPECT_EQ(thrown_message([&] { table("digits: 2"); }), "") << "nothing there needs a direction";
}

TEST_F(Directions, OfRunsThatAnExhibitDoesNotTakeDoNotCount) {
  add_runs("higher");
  const std::vector<MadeRun> others{{.id = "run-4", .experiment = "others", .span = 32, .flops = 5e5},
                                    {.id = "run-5", .experiment = "others", .span = 16, .flops = 3e5}};
  for (const MadeRun& other : others) {
    maker_.make(other);
    Json record = RunMaker::evaluation("test", 1.5);
    record["values"]["accuracy"] = 0.8 + 0.01 * other.span;
    maker_.journal(other).append("evaluation", record);
    declare(other, "lower");
  }
  store_.sync(maker_.runs());
  EXPECT_THAT(thrown_message([&] { table("best: true"); }), HasSubstr("both directions of 'accuracy'"));
  const std::string where = "where: {experiment: spans}\n";
  EXPECT_THAT(best_rows("best: true", where), ElementsAre("192"));
  EXPECT_THAT(best_rows("best: true", "where: {experiment: others}\n"), ElementsAre("16"));
  EXPECT_EQ(thrown_message([&] { claim("better: a\n"); }), "") << "its sides are of runs that agree";
  EXPECT_EQ(figure("front: true\n" + where).fronts.at(0).corners.size(), 5U);
  for (const MadeRun& other : others) {
    maker_.journal(other).append(kRemark, {{"bad", "its labels were wrong"}});
  }
  store_.sync(maker_.runs());
  EXPECT_THAT(best_rows("best: true"), ElementsAre("192")) << "a bad run is not asked either";
}

TEST_F(Directions, TellNoRunsApart) {
  add_runs("higher");
  const MadeRun other{.id = "run-4", .span = 64, .seed = 2};
  maker_.make(other);
  store_.sync(maker_.runs());
  RunTable runs(store_);
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < runs.size(); ++row) {
    if (runs.id(row) == "run-1" || runs.id(row) == "run-4") rows.push_back(row);
  }
  EXPECT_THAT(differing_keys(runs, rows), ElementsAre("seed"));
}

TEST_F(Directions, OfTablesFollowWhatIsDeclared) {
  add_runs("higher");
  EXPECT_THAT(best_rows("best: true"), ElementsAre("192"));
  EXPECT_THAT(best_rows("best: true, better: lower"), ElementsAre("64")) << "the file's own word counts";
}

TEST_F(Directions, OfTablesAreAskedForWithTheRemedy) {
  add_runs("");
  EXPECT_THAT(thrown_message([&] { table("best: true"); }),
              AllOf(HasSubstr("`best` of the column 'test.accuracy'"),
                    HasSubstr("program: {better: {accuracy: higher}}"), HasSubstr("`better: higher`")));
  EXPECT_THAT(best_rows("best: true, better: higher"), ElementsAre("192"));
  EXPECT_THAT(best_rows("digits: 2"), IsEmpty());
}

TEST_F(Directions, OfClaimsFollowWhatIsDeclared) {
  add_runs("higher");
  EXPECT_EQ(thrown_message([&] { claim("better: a\n"); }), "");
  EXPECT_NEAR(*claim("better: a\n").value, 0.25, 1e-12);
}

TEST_F(Directions, OfClaimsAreAskedForOnlyWhereTheyCount) {
  add_runs("");
  EXPECT_THAT(thrown_message([&] { claim("better: a\n"); }),
              AllOf(HasSubstr("the claim 'C': 'accuracy' is not among"), HasSubstr("`higher: a`")));
  EXPECT_THAT(thrown_message([&] { claim("not_better: a\nmargin: 0.1\n"); }), HasSubstr("'accuracy' is not among"));
  for (const char* sure : {"higher: a\n", "lower: b\n", "within: 0.5\n", "at_least: 0.1\n"}) {
    EXPECT_EQ(thrown_message([&] { claim(sure); }), "") << sure;
  }
}

TEST_F(Directions, OfFrontsInFiguresFollowWhatIsDeclared) {
  add_runs("higher");
  const auto corners = figure("front: true").fronts.at(0).corners;
  EXPECT_THAT(corners, ElementsAre(Pair(1e6, 0.25), Pair(2e6, 0.25), Pair(2e6, 0.5), Pair(3e6, 0.5), Pair(3e6, 0.75)));
  EXPECT_THAT(figure("front: true\nmaximize: none").fronts.at(0).corners, ElementsAre(Pair(1e6, 0.25)));
}

TEST_F(Directions, OfFiguresAreAskedForOnlyWhereTheyCount) {
  add_runs("");
  EXPECT_THAT(thrown_message([&] { figure("front: true"); }), AllOf(HasSubstr("`front`"), HasSubstr("`maximize: x`")));
  EXPECT_EQ(thrown_message([&] { figure("front: true\nmaximize: y"); }), "");
}

}  // namespace
}  // namespace xlm
