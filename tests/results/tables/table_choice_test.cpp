// Tables of settings that were chosen on validation.
#include <cmath>

#include <gmock/gmock.h>

#include "base/error.h"
#include "tests/results/tables/tables.h"
#include "tests/results/tuned_runs.h"

namespace xlm {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class ChoiceTables : public Tables {
 protected:
  ChoiceTables() {
    make_tuned_runs(maker_);
    sync();
  }
};

constexpr const char* kTuned =
    "table: Tuned\nrows: model.span\nwhere: {experiment: tuned}\n"
    "cells: {value: test.bpc, digits: 3, spread: sd, choose: {over: [optimizer.lr], by: valid.bpc}}\n";

TEST_F(ChoiceTables, ShowTheTestMeanOfTheSettingThatIsBestOnValidation) {
  const Table tuned = table(kTuned);
  ASSERT_EQ(tuned.rows.size(), 2U);
  const TableCell& narrow = tuned.rows[0].cells[0];
  EXPECT_NEAR(*narrow.value, 1.61, 1e-12);
  EXPECT_NEAR(*narrow.spread, 0.02 / std::sqrt(2.0), 1e-12);
  EXPECT_EQ(narrow.groups, 2);
  EXPECT_FALSE(narrow.mixed);
  EXPECT_THAT(narrow.chosen, ElementsAre("optimizer.lr=0.02"));
  EXPECT_NEAR(*tuned.rows[1].cells[0].value, 1.22, 1e-12);
  EXPECT_THAT(tuned.notes, Contains("Chosen by the best mean valid bpc: optimizer.lr=0.02 for 64; optimizer.lr=0.01 "
                                    "for 256."));
}

TEST_F(ChoiceTables, TellProgramsWhatWasChosen) {
  const Table tuned = table(kTuned);
  EXPECT_EQ(to_json(tuned)["rows"][0]["cells"][0]["chosen"], Json::array({"optimizer.lr=0.02"}));
  const std::string csv = render_table(tuned, TableFormat::kCsv, 0);
  EXPECT_THAT(csv, HasSubstr("test.bpc chosen"));
  EXPECT_THAT(csv, HasSubstr("optimizer.lr=0.01"));
  EXPECT_FALSE(to_json(table(kGrid))["rows"][0]["cells"][0].contains("chosen"));
}

TEST_F(ChoiceTables, AColumnMayLeaveTheChoiceOut) {
  const Table both = table(
      "table: Tuned and not\nrows: model.span\nwhere: {experiment: tuned}\n"
      "cells: {value: test.bpc, choose: {over: optimizer.lr, by: valid.bpc}}\n"
      "columns:\n  - {label: tuned}\n  - {label: usual, choose: none, where: {optimizer.lr: 0.01}}\n");
  EXPECT_NEAR(*both.rows[0].cells[0].value, 1.61, 1e-12);
  EXPECT_NEAR(*both.rows[0].cells[1].value, 1.51, 1e-12);
  EXPECT_THAT(both.rows[0].cells[1].chosen, IsEmpty());
  EXPECT_THAT(both.notes, Contains(HasSubstr("optimizer.lr=0.02 for 64/tuned")));
}

TEST_F(ChoiceTables, ACellWithoutASettingToChooseSaysSo) {
  const Table lost = table(
      "table: Lost\nrows: model.span\nwhere: {experiment: tuned, optimizer.lr: 0.04}\n"
      "cells: {value: test.bpc, choose: {over: optimizer.lr, by: valid.bpc}}\n");
  EXPECT_EQ(lost.rows[0].cells[0].missing, "no setting can be chosen");
  EXPECT_THAT(lost.notes, Contains(HasSubstr("Nothing can be chosen for 64:")));
}

TEST_F(ChoiceTables, AChoiceOnTestIsRefused) {
  EXPECT_THROW(table_of("table: T\nrows: model.span\n"
                        "cells: {value: test.bpc, choose: {over: optimizer.lr, by: test.bpc}}\n"),
               UsageError);
  EXPECT_THROW(table_of("table: T\nrows: model.span\ncells: {value: test.bpc, choose: best}\n"), UsageError);
}

}  // namespace
}  // namespace xlm
