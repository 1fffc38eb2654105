// Bad runs are left out of what is shown; tags are conditions.
#include "results/store/shown_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/run_folder/remark.h"
#include "results/store/pareto.h"
#include "results/store/run_list.h"
#include "tests/results/claims/claims.h"
#include "tests/results/figures/figures.h"
#include "tests/results/tables/tables.h"

namespace xlm {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Three seeds of two types and two spans; the third fixed run of span 64 is bad, and far from the others.
class BadRuns : public Tables {
 protected:
  BadRuns() {
    maker_.make({.id = kBad, .type = "fixed", .span = 64, .seed = 3, .bpc = 9});
    say(kBad, {{"bad", "wrong corpus"}});
    sync();
  }

  void say(const std::string& id, const Json& fields) const { append_remark(maker_.folder(id), fields); }

  std::vector<std::string> ids(const std::vector<std::string>& where) {
    RunTable runs(store_);
    std::vector<std::string> found;
    for (const std::size_t row : runs.select(parse_filters(where))) found.push_back(runs.id(row));
    return found;
  }

  static constexpr const char* kBad = "adaptive-span-text8-00000099";
};

constexpr const char* kLeftOut = "1 run marked as bad is left out; the condition is_bad=0,1 includes it.";

TEST_F(BadRuns, AreLeftOutUnlessAConditionNamesThem) {
  RunTable runs(store_);
  const ShownRows shown = shown_rows(runs, parse_filters({"model.span=64", "model.span_type=fixed"}));
  EXPECT_EQ(shown.rows.size(), 3U);
  EXPECT_THAT(shown.left_out.bad, ElementsAre(kBad));
  EXPECT_EQ(left_out_note(shown.left_out), kLeftOut);
  EXPECT_EQ(left_out_note({}), "");
  EXPECT_THAT(left_out_note({.bad = {"a", "b"}, .older = {}}), HasSubstr("2 runs marked as bad are left out"));
  EXPECT_EQ(shown_rows(runs, parse_filters({"is_bad=1"})).rows.size(), 1U);
  EXPECT_EQ(shown_rows(runs, parse_filters({"is_bad=0,1"})).rows.size(), 13U);
  EXPECT_EQ(shown_rows(runs, parse_filters({"is_bad=0"})).rows.size(), 12U);
  EXPECT_EQ(shown_rows(runs, parse_filters({"bad=\"wrong corpus\""})).rows.size(), 1U);
  EXPECT_EQ(shown_rows(runs, {}, {"is_bad"}).rows.size(), 13U) << "a table by it shows both";
}

TEST_F(BadRuns, AreInNoMeanOfATable) {
  const Table without = table(kGrid);
  const TableCell& cell = without.rows[1].cells[0];
  EXPECT_EQ(without.rows[1].label, "fixed");
  EXPECT_EQ(cell.runs.size(), 3U);
  EXPECT_LT(*cell.value, 3);
  EXPECT_THAT(without.notes, Contains(kLeftOut));
  const Table with = table(kGrid, {"is_bad=0,1"});
  EXPECT_EQ(with.rows[1].cells[0].runs.size(), 4U);
  EXPECT_THAT(with.notes, ::testing::Not(Contains(kLeftOut)));
}

TEST_F(BadRuns, AreOnNoFrontInNoFigureAndInNoClaim) {
  RunTable runs(store_);
  const ParetoQuery query{.columns = {"flops_per_token", "test.bpc"},
                          .maximize = {false, true},
                          .group_by = {},
                          .where = {},
                          .reference = {}};
  const ParetoResult result = run_pareto(runs, query);
  for (const ParetoPoint& point : result.fronts.at(0).front.front) EXPECT_LT(point.values[1], 3);
  EXPECT_THAT(result.notes, ElementsAre(kLeftOut));

  const auto built = build_figure(runs, spec_of(kLine), {});
  const Figure& figure = std::get<Figure>(built);
  EXPECT_THAT(runs_of(figure), ::testing::Not(Contains(kBad)));
  EXPECT_THAT(figure.notes, Contains(kLeftOut));

  const JudgedClaim claim = judge_claim(runs,
                                        claim_of("claims:\n  - claim: Adaptive is better\n    value: test.bpc\n"
                                                 "    where: {model.span: 64}\n    a: {model.span_type: adaptive}\n"
                                                 "    b: {model.span_type: fixed}\n"),
                                        {});
  EXPECT_THAT(runs_of(claim), ::testing::Not(Contains(kBad)));
  EXPECT_THAT(claim.notes, Contains(kLeftOut));
}

TEST_F(BadRuns, ATableOfBadRunsAloneSaysSo) {
  const Table empty = table(
      "table: All bad\nrows:\n  - {label: lost, where: {model.span: 64}}\n"
      "where: {test.bpc: 9}\ncells: {value: test.bpc}\n");
  EXPECT_THAT(empty.notes, Contains("No runs to show: all runs are marked as bad."));
}

TEST_F(BadRuns, CountAgainOnceTheyAreGood) {
  say(kBad, {{"bad", ""}});
  sync();
  RunTable runs(store_);
  EXPECT_EQ(shown_rows(runs, {}).rows.size(), 13U);
}

TEST_F(BadRuns, TagsAndNotesAreColumns) {
  say("adaptive-span-text8-00000001", {{"tag", "paper"}, {"given", true}});
  say("adaptive-span-text8-00000001", {{"tag", "baseline"}, {"given", true}});
  say("adaptive-span-text8-00000002", {{"tag", "paper"}, {"given", true}});
  say("adaptive-span-text8-00000002", {{"note", "the disk was slow"}});
  sync();
  EXPECT_THAT(ids({"tag=paper"}), ElementsAre("adaptive-span-text8-00000001", "adaptive-span-text8-00000002"));
  EXPECT_THAT(ids({"tag=baseline"}), ElementsAre("adaptive-span-text8-00000001"));
  EXPECT_THAT(ids({"tag=paper", "tag!=baseline"}), ElementsAre("adaptive-span-text8-00000002"));
  EXPECT_EQ(ids({"tag=null"}).size(), 11U);
  RunTable runs(store_);
  EXPECT_EQ(to_text(runs.column("tag")[0]), "baseline, paper");
  EXPECT_EQ(to_text(runs.column("note")[1]), "the disk was slow");
  RunLister lister(store_);
  EXPECT_EQ(lister.run("adaptive-span-text8-00000001")["tags"], Json({"baseline", "paper"}));
  EXPECT_EQ(lister.run("adaptive-span-text8-00000002")["note"], "the disk was slow");
  EXPECT_EQ(lister.run(kBad)["bad"], "wrong corpus");
  EXPECT_FALSE(lister.run("adaptive-span-text8-00000003").contains("note"));
}

}  // namespace
}  // namespace xlm
