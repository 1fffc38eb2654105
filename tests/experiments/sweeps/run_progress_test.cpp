// A run's progress from the end of its journal: what people add to a run is none, and what an earlier start forgot
// stays forgotten.
#include "experiments/sweeps/run_progress.h"

#include <gtest/gtest.h>

#include "results/run_folder/journal.h"
#include "results/run_folder/remark.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

class RunProgressTest : public ::testing::Test {
 protected:
  void add(double time, const std::string& type, const Json& fields) {
    Journal(file(), [time] { return time; }).append(type, fields);
  }
  void add_state(double time, const std::string& state, const Json& more = Json::object()) {
    Json fields = {{"state", state}};
    fields.update(more);
    add(time, "state", fields);
  }
  void add_metric(double time, int step) { add(time, "metric", {{"step", step}, {"values", {{"loss", 1.0}}}}); }
  void add_validation(double time, int step) {
    add(time, "evaluation", {{"step", step}, {"split", "valid"}, {"loss", 1.5}, {"values", Json::object()}});
  }

  RunProgress progress() const { return read_progress(file()); }
  fs::path file() const { return folder_.path() / "journal.jsonl"; }

  TemporaryFolder folder_;
};

TEST_F(RunProgressTest, WhatPeopleAndCommandsAddLaterIsNoWork) {
  add_state(100, "running");
  add_metric(110, 1);
  add_metric(130, 11);
  add_state(145, "done");
  EXPECT_DOUBLE_EQ(progress().pace, 2);
  EXPECT_DOUBLE_EQ(progress().overhead, 45 - 20);
  EXPECT_DOUBLE_EQ(progress().last_time, 145);
  add(90000, kRemark, {{"tag", "chosen"}, {"given", true}});
  add(90001, "better", {{"values", {{"accuracy", "higher"}}}});
  add(90002, "experiment", {{"name", "another"}});
  add(90003, "choice", {{"key", "options.lr"}, {"value", 1}, {"file", "a"}, {"by", "b"}, {"runs", Json::array()}});
  add(90004, "wanted", {{"split", "test"}, {"changes", Json::object()}});
  EXPECT_DOUBLE_EQ(progress().overhead, 45 - 20);
  EXPECT_DOUBLE_EQ(progress().last_time, 145);
}

TEST_F(RunProgressTest, WhatAFreshStartForgotStaysForgottenAfterAnotherAttempt) {
  add_state(100, "running");
  add_metric(110, 5);
  add_validation(111, 5);
  EXPECT_EQ(progress().validation["step"], 5);
  add_state(200, "running", {{"fresh", true}});
  EXPECT_TRUE(progress().validation.is_null());
  add_state(300, "running");
  EXPECT_TRUE(progress().validation.is_null()) << "it is of what was begun again";
  EXPECT_TRUE(progress().metric.is_null());
  add_validation(310, 3);
  add_state(400, "running");
  EXPECT_EQ(progress().validation["step"], 3) << "it is of an attempt that this one goes on from";
}

}  // namespace
}  // namespace xlm
