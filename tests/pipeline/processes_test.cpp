// Runs that several real processes do together, each with its rows of the batch.
#include <algorithm>
#include <cmath>
#include <csignal>
#include <fstream>
#include <map>
#include <random>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "tests/pipeline/pipeline_fixture.h"
#include "tests/test_seed.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kSevenRows =
    "data: {path: data}\ndevice: cpu\n"
    "optimizer: {warmup_steps: 10}\n"
    "eval: {batch: 5}\n"
    "train: {steps: 50, batch: 7, block: 24, log_every: 1, eval_every: 20, checkpoint_every: 5, threads: 1}\n";

class Processes : public Pipeline {
 protected:
  void SetUp() override {
    std::string text;
    for (int i = 0; i < 400; ++i) text += fmt::format("line {} of a text that says it again\n", i * i % 1009);
    write_file(folder_.path() / "corpus.txt", text);
    ASSERT_EQ(xlm({"prepare-data", "text", "--from", "corpus.txt", "--out", "data", "--train-unigram", "30"}).code, 0);
  }

  void write_run(const std::string& model, const std::string& config = kSevenRows) const {
    write_file(folder_.path() / "run.yaml", fmt::format("seed: {}\n{}{}", test_seed(1), config, model));
  }

  std::vector<Json> journal(const std::string& runs) const {
    std::vector<Json> records;
    for (const std::string& line : split(read_file(run_folder(runs) / "journal.jsonl"), '\n')) {
      if (!line.empty()) records.push_back(parse_json(line, "journal"));
    }
    return records;
  }

  /// The values of steps and evaluations in a journal, by "step name"; the newest if there are several.
  std::map<std::string, double> numbers(const std::string& runs) const {
    std::map<std::string, double> found;
    for (const Json& record : journal(runs)) {
      if (record["type"] != "metric" && record["type"] != "evaluation") continue;
      const std::string at = fmt::format("{} {} ", record.value("step", 0), record.value("split", "train"));
      if (record.contains("loss")) found[at + "loss"] = record["loss"].get<double>();
      for (const auto& [name, value] : record["values"].items()) {
        const bool is_time = name == "tokens_per_second" || name == "training_seconds";
        if (value.is_number() && !is_time) found[at + name] = value.get<double>();
      }
    }
    return found;
  }

  std::vector<std::string> differences(const std::string& one, const std::string& several, bool entropy = false) const {
    const auto expected = numbers(one);
    const auto found = numbers(several);
    std::vector<std::string> different;
    for (const auto& [name, value] : expected) {
      const auto same = found.find(name);
      const double there = same == found.end() ? std::nan("") : same->second;
      // The place of an entropy spike follows from which of two numbers is larger, even if only in the last bit.
      const bool compared = entropy && name.find("boundary_") != std::string::npos;
      const double tolerance = compared ? 1e-2 : 1e-5;
      if (!(std::abs(there - value) <= tolerance * std::max(1.0, std::abs(value)))) {
        different.push_back(fmt::format("{}: {} and {}", name, value, there));
      }
    }
    return different;
  }

  static bool is_running(pid_t process) {
    std::ifstream status(fmt::format("/proc/{}/stat", process));
    std::string number;
    std::string name;
    std::string state;
    return static_cast<bool>(status >> number >> name >> state) && state != "Z";
  }

  bool has_meeting_place(const std::string& runs) const {
    const fs::directory_iterator entries(run_folder(runs));
    return std::any_of(begin(entries), end(entries),
                       [](const auto& entry) { return entry.path().filename().string().starts_with(".meeting"); });
  }
};

constexpr const char* kSpanModel =
    "model: {type: adaptive-span, width: 16, heads: 2, feed_forward: 32, layers: 2, span: 48, span_ramp: 8, dropout: "
    "0.1";
constexpr const char* kPoolingModel =
    "model: {type: hourglass, layers: [1, 1, 1], width: 16, heads: 2, feed_forward: 32, dropout: 0.1, boundaries: ";
constexpr const char* kWindowModel =
    "model: {type: gpt2, width: 16, heads: 2, layers: 2, positions: 32, window: 12, windows: 2, overlap: 2, dropout: "
    "0.1";

class EveryModel : public Processes, public testing::WithParamInterface<std::pair<const char*, std::string>> {};

TEST_P(EveryModel, HasTheLossesOfOneProcess) {
  write_run(GetParam().second);
  const ProgramResult one = xlm({"train", "run.yaml", "--runs", "one"});
  ASSERT_EQ(one.code, 0) << one.err;
  ASSERT_GE(numbers("one").size(), 50U);
  for (const char* count : {"2", "3"}) {
    const std::string runs = fmt::format("of-{}", count);
    const ProgramResult several = xlm({"train", "run.yaml", "--runs", runs, fmt::format("train.processes={}", count)});
    ASSERT_EQ(several.code, 0) << several.err;
    EXPECT_EQ(run_folder(runs).filename(), run_folder("one").filename()) << "it is the same run";
    const bool entropy = std::string_view(GetParam().first) == "entropy";
    EXPECT_THAT(differences("one", runs, entropy), IsEmpty()) << count << " processes";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, EveryModel,
    testing::Values(std::pair("fixed", kSpanModel + std::string(", span_type: fixed}\n")),
                    std::pair("adaptive", kSpanModel + std::string(", span_type: adaptive}\n")),
                    std::pair("dynamic", kSpanModel + std::string(", span_type: dynamic}\n")),
                    std::pair("expire", kSpanModel + std::string(", span_type: expire}\n")),
                    std::pair("none", std::string("model: {type: hourglass, layers: [2], width: 16, heads: 2, "
                                                  "feed_forward: 32, dropout: 0.1, boundaries: {type: none}}\n")),
                    std::pair("pooled", kPoolingModel + std::string("{type: fixed, factor: 2}}\n")),
                    std::pair("whitespace", kPoolingModel + std::string("{type: whitespace}}\n")),
                    std::pair("entropy", kPoolingModel + std::string("{type: entropy}}\n")),
                    std::pair("gumbel", kPoolingModel + std::string("{type: gumbel}}\n")),
                    std::pair("unigram", kPoolingModel + std::string("{type: unigram, tokenizer: unigram-30}}\n")),
                    std::pair("gpt2", kWindowModel + std::string("}\n")),
                    std::pair("recurrent", kWindowModel + std::string(", recurrence: {pool: mean}}\n"))),
    [](const auto& model) { return model.param.first; });

TEST_F(Processes, AKilledOneEndsAllAndTheRunResumesFromItsCheckpoint) {
  std::string config = kSevenRows;
  config.replace(config.find("steps: 50"), 9, "steps: 400");
  // Sums of two and of three processes differ in the last bit. At the usual rate 376 steps magnify that to 1e-4.
  config.replace(config.find("warmup_steps: 10"), 16, "warmup_steps: 10, lr: 1e-5");
  write_run(kSpanModel + std::string("}\n"), config);
  ASSERT_EQ(xlm({"train", "run.yaml", "--runs", "whole", "train.processes=3"}).code, 0);

  const auto run = start({"train", "run.yaml", "--runs", "hit", "train.processes=3"});
  wait_for_record("hit", "\"checkpoint\"");
  const std::vector<pid_t> peers = peers_of(run->pid());
  ASSERT_EQ(peers.size(), 2U);
  ::kill(peers[1], SIGKILL);
  const ProgramResult result = run->wait();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("process 3 of 3: its worker was killed by signal 9"));
  EXPECT_EQ(model_hash("hit"), model_hash("whole"));

  // Kills the first one: the others end by themselves, and another number of processes resumes.
  const auto first = start({"train", "run.yaml", "--runs", "other", "train.processes=2"});
  wait_for_record("other", "\"checkpoint\"");
  const std::vector<pid_t> left = peers_of(first->pid());
  ASSERT_EQ(left.size(), 1U);
  first->kill(SIGKILL);
  first->wait();
  for (int i = 0; i < 2000 && is_running(left[0]); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_FALSE(is_running(left[0]));
  const ProgramResult again = xlm({"train", "run.yaml", "--runs", "other", "train.processes=3"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(differences("whole", "other"), IsEmpty());
  EXPECT_FALSE(has_meeting_place("other"));
}

TEST_F(Processes, ARecordAfterAStopIsOfAllStepsSinceTheLast) {
  std::string config = kSevenRows;
  config.replace(config.find("steps: 50"), 9, "steps: 12");
  config.replace(config.find("log_every: 1"), 12, "log_every: 4");
  for (const std::string& model :
       {kSpanModel + std::string(", span_type: dynamic}\n"), kPoolingModel + std::string("{type: whitespace}}\n")}) {
    write_run(model, config);
    const std::string whole = fmt::format("whole-{}", model.size());
    const std::string parts = fmt::format("parts-{}", model.size());
    ASSERT_EQ(xlm({"train", "run.yaml", "--runs", whole}).code, 0);
    for (const char* count : {"2", "3"}) {  // one step each
      const std::vector<std::string> hurried{"train.max_hours=1e-9", fmt::format("train.processes={}", count)};
      ASSERT_EQ(xlm({"train", "run.yaml", "--runs", parts, hurried[0], hurried[1]}).code, 75);
    }
    ASSERT_EQ(xlm({"train", "run.yaml", "--runs", parts, "train.processes=2"}).code, 0);
    EXPECT_THAT(differences(whole, parts), IsEmpty());
  }
}

// Kills any process, at any step, again and again. The seed is fixed, so that a failure repeats.
TEST_F(Processes, KilledAnywhereARunResumesWithAnyNumberOfProcesses) {
  std::string config = kSevenRows;
  // Far beyond the last kill, but not so far that the rounding of sums in another order matters: after 1,000 steps it
  // reaches the third digit of the loss.
  config.replace(config.find("steps: 50"), 9, "steps: 250");
  config.replace(config.find("eval_every: 20"), 14, "eval_every: 100");
  write_file(folder_.path() / "run.yaml", config + kSpanModel + "}\n");
  ASSERT_EQ(xlm({"train", "run.yaml", "--runs", "whole", "train.processes=3"}).code, 0);
  const auto steps_written = [&](const std::string& runs) {
    const fs::path folder = run_folder(runs);
    const std::string text = folder.empty() ? "" : read_file(folder / "journal.jsonl");
    int count = 0;
    for (std::size_t at = 0; (at = text.find("\"metric\"", at)) != std::string::npos; ++at) ++count;
    return count;
  };
  for (const bool as_many : {true, false}) {
    std::mt19937 random(as_many ? 1 : 2);
    const std::string runs = as_many ? "as-many" : "others";
    int kills = 0;
    std::string lines;
    for (int round = 0; round < 4; ++round) {
      const unsigned count = as_many ? 3 : 2 + round % 2;
      const auto run = start({"train", "run.yaml", "--runs", runs, fmt::format("train.processes={}", count)});
      const int until = steps_written(runs) + 5 + static_cast<int>(random() % 20);
      while (run->is_running() && steps_written(runs) < until) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
      std::vector<pid_t> processes = peers_of(run->pid());
      processes.insert(processes.begin(), run->pid());
      const std::size_t hit = random() % processes.size();
      ASSERT_EQ(processes.size(), count) << "the run ended before the kill";
      ::kill(processes[hit], SIGKILL);
      ++kills;
      lines += fmt::format("process {} of {} from step {}; ", hit + 1, count, until);
      if (hit > 0) run->kill(SIGTERM);  // otherwise it would continue alone
      const ProgramResult result = run->wait();
      EXPECT_THAT(result.code, testing::AnyOf(0, 75, 128 + SIGKILL, -SIGKILL)) << lines << result.err;
      for (const pid_t process : processes) {
        for (int i = 0; i < 3000 && is_running(process); ++i) {
          std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        EXPECT_FALSE(is_running(process)) << lines;
      }
    }
    EXPECT_EQ(kills, 4);
    const ProgramResult last = xlm({"train", "run.yaml", "--runs", runs, "train.processes=3"});
    ASSERT_EQ(last.code, 0) << lines << last.err;
    EXPECT_THAT(differences("whole", runs), IsEmpty()) << lines;
    if (as_many) {
      EXPECT_EQ(model_hash(runs), model_hash("whole")) << lines;
    }
    EXPECT_FALSE(has_meeting_place(runs)) << lines;
  }
}

TEST_F(Processes, StopTogetherWithACheckpoint) {
  std::string config = kSevenRows;
  config.replace(config.find("steps: 50"), 9, "steps: 100000");
  write_file(folder_.path() / "run.yaml", config + kSpanModel + "}\n");
  const auto run = start({"train", "run.yaml", "train.processes=2"});
  wait_for_record("runs", "\"checkpoint\"");
  run->kill(SIGTERM);
  const ProgramResult result = run->wait();
  EXPECT_EQ(result.code, 75) << result.err;
  EXPECT_EQ(journal("runs").back().value("state", ""), "preempted");
  EXPECT_FALSE(has_meeting_place("runs"));
}

TEST_F(Processes, AStopEndsTheEvaluationOfAllAtOnce) {
  write_file(folder_.path() / "run.yaml",
             "data: {path: data}\ndevice: cpu\noptimizer: {warmup_steps: 1}\n"
             "model: {type: hourglass, layers: [4, 4, 4], width: 256, heads: 4, feed_forward: 1024}\n"
             "train: {steps: 2, batch: 2, block: 32, threads: 1}\neval: {batch: 2, context: 512, stride: 1}\n");
  const auto run = start({"train", "run.yaml", "train.processes=2"});
  wait_for_record("runs", "\"checkpoint\"");  // then it evaluates for a minute
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const auto asked = std::chrono::steady_clock::now();
  run->kill(SIGTERM);
  const ProgramResult result = run->wait();
  EXPECT_EQ(result.code, 75) << result.err;
  EXPECT_LT(std::chrono::steady_clock::now() - asked, std::chrono::seconds(15));
}

TEST_F(Processes, DoNotWaitForOneThatEndsBeforeTheyMeet) {
  write_run(kSpanModel + std::string("}\n"));
  const auto began = std::chrono::steady_clock::now();
  const auto run = start({"train", "run.yaml", "train.processes=3"});
  std::vector<pid_t> peers;
  while (run->is_running() && (peers = peers_of(run->pid())).empty()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ASSERT_FALSE(peers.empty());
  ::kill(peers[0], SIGKILL);
  const ProgramResult result = run->wait();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("was killed by signal 9"));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(60));
}

TEST_F(Processes, AnErrorOfTheFirstOneIsTheRuns) {
  write_run(kSpanModel + std::string("}\n"));
  const ProgramResult one = xlm({"train", "run.yaml", "--runs", "one", "eval.batch=15000"});
  const ProgramResult two = xlm({"train", "run.yaml", "--runs", "two", "eval.batch=15000", "train.processes=2"});
  EXPECT_EQ(one.code, 3);
  EXPECT_EQ(two.code, 3) << two.err;
  EXPECT_THAT(two.err, HasSubstr("2 for each of eval.batch=15000 rows"));
  EXPECT_THAT(one.err, ::testing::Not(::testing::HasSubstr("step 1 "))) << "before anything is trained";
  const ProgramResult full = shell(
      folder_.path(), fmt::format("ulimit -f 80; exec '{}' train run.yaml --runs full train.processes=2", XLM_BINARY));
  EXPECT_EQ(full.code, 5) << full.err;
  EXPECT_THAT(full.err, HasSubstr("File too large"));
}

TEST_F(Processes, BestWeightsMicroBatchesAndSmallEvaluationsEqualOneProcess) {
  std::string config = kSevenRows;
  config.replace(config.find("eval: {batch: 5}"), 16, "eval: {batch: 2, select: best}");
  write_file(folder_.path() / "run.yaml", config + kSpanModel + ", span_type: dynamic}\n");
  ASSERT_EQ(xlm({"train", "run.yaml", "--runs", "one"}).code, 0);
  ASSERT_EQ(xlm({"train", "run.yaml", "--runs", "three", "train.processes=3", "train.micro_batch=1"}).code, 0);
  EXPECT_THAT(differences("one", "three"), IsEmpty());
  const ProgramResult diverged =
      xlm({"train", "run.yaml", "--runs", "off", "train.processes=2", "optimizer.lr=1e30", "optimizer.clip_step=0"});
  EXPECT_EQ(diverged.code, 4) << diverged.err;
}

TEST_F(Processes, ASweepGivesItsRunsSeveral) {
  std::string config = kSevenRows;
  config.replace(config.find("threads: 1"), 10, "threads: 1, processes: 2");
  write_file(folder_.path() / "sweep.yaml", config + kSpanModel + "}\nsweep: {grid: {seed: [1, 2]}}\n");
  const ProgramResult result = xlm({"sweep", "sweep.yaml", "--jobs", "2"});
  ASSERT_EQ(result.code, 0) << result.out << result.err;
  const Json runs = parse_json(xlm({"runs", "ls", "--json"}).out, "ls");
  ASSERT_EQ(runs.size(), 2U);
  write_run(kSpanModel + std::string("}\n"));
  std::vector<double> losses;
  for (const Json& run : runs) {
    EXPECT_EQ(run["params"]["train.processes"], 2);
    const std::string seed = run["params"]["seed"].dump();
    losses.push_back(run["evaluations"][0]["loss"].get<double>());
    ASSERT_EQ(run["evaluations"][0]["split"], "test");
    ASSERT_EQ(xlm({"train", "run.yaml", "--runs", "alone-" + seed, "seed=" + seed}).code, 0);
    EXPECT_NEAR(numbers("alone-" + seed).at("50 test loss"), losses.back(), 1e-5)
        << "two runs at once do not connect to each other";
  }
  EXPECT_NE(losses[0], losses[1]);
}

TEST_F(Processes, MoreThanThereAreRowsAreRefused) {
  write_run(kSpanModel + std::string("}\n"));
  const ProgramResult result = xlm({"train", "run.yaml", "train.processes=8"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("train.processes (8) share the rows of train.batch (7)"));
}

}  // namespace
}  // namespace xlm
