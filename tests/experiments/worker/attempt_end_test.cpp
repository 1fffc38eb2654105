// Why attempts ended, how many were lost, and what the next one does otherwise.
#include "experiments/worker/attempt_end.h"

#include <csignal>
#include <cstdlib>

#include <gmock/gmock.h>

#include "experiments/runs/live_run.h"
#include "experiments/runs/machine_resources.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;

Run run_with(std::int64_t batch, std::int64_t micro_batch, std::int64_t found = 0) {
  xlm::Run run;
  run.params = {{"train.batch", batch}, {"train.micro_batch", micro_batch}};
  run.micro_batch = found;
  return run;
}

RunState state(double time, const std::string& name, const std::string& cause = "") {
  RunState state;
  state.time = time;
  state.state = name;
  state.cause = cause;
  return state;
}

TEST(AttemptEnd, ASignalSaysWhyAndAKillForMemoryIsToldFromOthers) {
  EXPECT_EQ(end_of_worker(128 + SIGKILL, true).cause, EndCause::kMemory);
  EXPECT_EQ(end_of_worker(128 + SIGKILL, false).cause, EndCause::kKilled);
  EXPECT_EQ(end_of_worker(128 + SIGTERM, true).cause, EndCause::kKilled);
  EXPECT_EQ(end_of_worker(128 + SIGXCPU, false).cause, EndCause::kTime);
  EXPECT_EQ(end_of_worker(128 + SIGSEGV, true).cause, EndCause::kError);
  EXPECT_EQ(end_of_worker(1, true).cause, EndCause::kError);
  EXPECT_EQ(end_of_worker(1, true).reason, "its worker ended with code 1");
}

TEST(AttemptEnd, AQueuesWordsAreUnderstoodAndWhatNobodyKnowsIsNotGuessed) {
  RunState last = state(1, "running");
  last.host = "node7";
  last.pid = 12;
  EXPECT_EQ(end_of_gone_worker(last, "").reason, "its worker is gone (process 12 on node7)");
  last.job = "cluster:31_4";
  EXPECT_EQ(end_of_gone_worker(last, "").cause, EndCause::kGone);
  EXPECT_EQ(end_of_gone_worker(last, "").reason, "its worker is gone (job 31_4 on node7)");
  EXPECT_EQ(end_of_gone_worker(last, "NODE_FAIL").cause, EndCause::kNode);
  EXPECT_EQ(end_of_gone_worker(last, "NODE_FAIL").reason, "its worker is gone (job 31_4 on node7: NODE_FAIL)");
  EXPECT_EQ(end_of_gone_worker(last, "TIMEOUT").cause, EndCause::kTime);
  EXPECT_EQ(end_of_gone_worker(last, "OUT_OF_MEMORY").cause, EndCause::kMemory);
  EXPECT_EQ(end_of_gone_worker(last, "CANCELLED").cause, EndCause::kKilled);
  EXPECT_EQ(end_of_gone_worker(last, "RUNNING").reason, "its job 31_4 was started again (it was on node7)");
}

TEST(AttemptEnd, LostAttemptsCountSinceTheLastThatGotOn) {
  xlm::Run run;
  EXPECT_EQ(lost_in_a_row(run), 1) << "the present one";
  run.history = {state(1, "queued"), state(2, "running"), state(3, "queued", "killed"), state(4, "running")};
  EXPECT_EQ(lost_in_a_row(run), 2);
  run.history.push_back(state(5, "running"));
  EXPECT_EQ(lost_in_a_row(run), 3) << "one exited without a final record";
  run.checkpoints = {{.step = 7, .time = 4.5, .file = "7"}};
  EXPECT_EQ(lost_in_a_row(run), 2) << "the one before was lost after it had saved something";
  run.history.push_back(state(5.5, "queued", "memory"));
  run.history.back().micro_batch = 4;
  run.history.push_back(state(5.8, "running"));
  EXPECT_EQ(lost_in_a_row(run), 1) << "with fewer rows it is another try";
  run.history.push_back(state(5.9, "failed", "killed"));
  run.history.push_back(state(5.95, "running"));
  EXPECT_EQ(lost_in_a_row(run), 1) << "it was given up, and asked for again";
  run.history.push_back(state(6, "preempted"));
  run.history.push_back(state(7, "running"));
  run.checkpoints.clear();
  EXPECT_EQ(lost_in_a_row(run), 1) << "the one before ended by itself";
}

TEST(AttemptEnd, FewerRowsMakeWholeBatches) {
  EXPECT_EQ(rows_at_once(run_with(8, 0)), 8);
  EXPECT_EQ(fewer_rows(run_with(8, 0)), 4);
  EXPECT_EQ(fewer_rows(run_with(8, 4)), 2);
  EXPECT_EQ(fewer_rows(run_with(8, 4, 2)), 1);
  EXPECT_EQ(rows_at_once(run_with(8, 2, 4)), 2) << "what the user has requested since";
  EXPECT_EQ(fewer_rows(run_with(9, 0)), 3);
  EXPECT_EQ(fewer_rows(run_with(7, 0)), 1);
  EXPECT_EQ(fewer_rows(run_with(7, 1)), std::nullopt);
  EXPECT_EQ(rows_at_once(run_with(8, 0), 3), 3) << "the attempt has found that no more fit";
  EXPECT_EQ(rows_at_once(run_with(8, 2), 3), 2);
  EXPECT_EQ(fewer_rows(run_with(64, 0), 11), 4);
  EXPECT_EQ(fewer_rows(run_with(64, 0), 1), std::nullopt);
}

TEST(AttemptEnd, TheRecordSaysWhatHappenedAndWhatComesNext) {
  const AttemptEnd end{EndCause::kMemory, "out of memory"};
  const Json again = record_of_end(run_with(8, 0), end, true);
  EXPECT_EQ(again["state"], "queued");
  EXPECT_EQ(again["cause"], "memory");
  EXPECT_EQ(again["micro_batch"], 4);
  EXPECT_EQ(again["reason"], "out of memory\nit computed 8 rows of the batch at once, and resumes with 4");
  EXPECT_FALSE(again.contains("memory")) << "there is no job";
  const Json fitted = record_of_end(run_with(64, 0), {.cause = EndCause::kMemory, .reason = "full", .rows = 11}, true);
  EXPECT_EQ(fitted["micro_batch"], 4);
  EXPECT_EQ(fitted["reason"], "full\nit computed 11 rows of the batch at once, and resumes with 4");
  ::setenv("SLURM_MEM_PER_NODE", "2000", 1);
  const Json failed = record_of_end(run_with(8, 1), {EndCause::kMemory, "out of memory", job_memory()}, false);
  ::unsetenv("SLURM_MEM_PER_NODE");
  EXPECT_EQ(failed["state"], "failed");
  EXPECT_EQ(failed["memory"], 2000.0 * 1048576);
  EXPECT_EQ(failed["reason"], "out of memory\nit computed 1 row of the batch at once");
  xlm::Run lost;
  lost.history = {state(1, "running"), state(2, "running"), state(3, "running")};
  EXPECT_THAT(record_of_end(lost, {EndCause::kKilled, "killed"}, false)["reason"].get<std::string>(),
              HasSubstr("killed, 3 times in a row without getting on"));
}

}  // namespace
}  // namespace xlm
