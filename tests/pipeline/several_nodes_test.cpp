// Runs of two processes on two nodes of a real Slurm. The nodes cannot reach each other by 127.0.0.1.
#include <csignal>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "tests/experiments/program.h"
#include "tests/experiments/slurm_fixture.h"
#include "tests/needs.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kNodes = XLM_SOURCE_DIR "/tests/experiments/launchers/several_nodes.sh";
constexpr int kCannot = 77;

constexpr const char* kConfig =
    "experiment: nodes\ndata: {path: data}\ndevice: cpu\n"
    "model: {type: adaptive-span, width: 16, heads: 2, feed_forward: 32, layers: 2, span: 48, dropout: 0.1}\n"
    "train: {steps: STEPS, batch: 7, block: 24, log_every: 1, eval_every: 20, checkpoint_every: 5, threads: 1}\n";

class SlurmTestSeveralNodes : public testing::Test {
 protected:
  void SetUp() override {
    if (LocalSlurm::starter().empty()) GTEST_SKIP() << needs::kSlurm;
    ProgramResult started;
    for (const char* name : {"cluster", "again", "once-more"}) {  // its ports follow from its name, and may be in use
      if (!cluster_.empty()) stop_cluster();
      cluster_ = name;
      started = shell(folder_.path(), fmt::format("'{}' start {} 2", kNodes, cluster_));
      if (started.code == 0 || started.code == kCannot) break;
    }
    if (started.code == kCannot) GTEST_SKIP() << started.err;
    ASSERT_EQ(started.code, 0) << started.err;
    ::setenv("SLURM_CONF", (folder_.path() / cluster_ / "slurm.conf").c_str(), 1);
    std::string text;
    for (int i = 0; i < 400; ++i) text += fmt::format("line {} of a text that says it again\n", i * i % 1009);
    write_file(folder_.path() / "corpus.txt", text);
    ASSERT_EQ(xlm("prepare-data text --from corpus.txt --out data").code, 0);
  }

  void TearDown() override {
    if (cluster_.empty()) return;
    shell(folder_.path(), "scancel -u root; for i in 1 2 3 4 5 6 7 8 9; do [ -n \"$(squeue -h)\" ] && sleep 1; done");
    stop_cluster();
  }

  void stop_cluster() const { shell(folder_.path(), fmt::format("'{}' stop {}", kNodes, cluster_)); }

  ProgramResult xlm(const std::string& arguments) const {
    return shell(folder_.path(), "'" XLM_BINARY "' " + arguments);
  }

  void write_config(int steps, const std::string& more = "") const {
    std::string config = kConfig;
    config.replace(config.find("STEPS"), 5, std::to_string(steps));
    write_file(folder_.path() / "run.yaml", config + more);
  }

  std::vector<Json> journal(const std::string& runs) const {
    std::vector<Json> records;
    if (!fs::exists(folder_.path() / runs)) return records;
    for (const auto& entry : fs::directory_iterator(folder_.path() / runs)) {
      if (entry.path().filename().string().front() == '.' || !fs::exists(entry.path() / "journal.jsonl")) continue;
      const std::string text = read_file(entry.path() / "journal.jsonl");
      for (const std::string& line : split(text.substr(0, text.rfind('\n') + 1), '\n')) {
        if (!line.empty()) records.push_back(parse_json(line, "journal"));
      }
    }
    return records;
  }

  std::map<std::string, double> losses(const std::string& runs) const {
    std::map<std::string, double> found;
    for (const Json& record : journal(runs)) {
      const std::string at = fmt::format("{} {}", record.value("step", 0), record.value("split", "train"));
      if (record.contains("loss")) found[at] = record["loss"].get<double>();
      if (record["type"] == "metric" && record["values"].contains("loss")) {
        found[at] = record["values"]["loss"].get<double>();
      }
    }
    return found;
  }

  void expect_losses_of_one_process(const std::string& runs) const {
    const auto expected = losses("one");
    const auto found = losses(runs);
    EXPECT_EQ(found.size(), expected.size());
    EXPECT_GE(found.size(), 50U);
    for (const auto& [at, loss] : expected) {
      ASSERT_TRUE(found.contains(at)) << at;
      EXPECT_NEAR(found.at(at), loss, 1e-5) << at;
    }
  }

  std::vector<std::string> states(const std::string& runs) const {
    std::vector<std::string> found;
    for (const Json& record : journal(runs)) {
      if (record["type"] == "state") found.push_back(record["state"].get<std::string>());
    }
    return found;
  }

  void until_checkpoint(const std::string& runs) const {
    LocalSlurm::until([&] {
      const std::vector<Json> records = journal(runs);
      return std::any_of(records.begin(), records.end(), [](const Json& r) { return r["type"] == "checkpoint"; });
    });
  }

  /// Processes of this test's runs whose command line matches an expression, including srun's. The expression must not
  /// match itself.
  std::vector<pid_t> processes(const std::string& words) const {
    const std::string found =
        shell(folder_.path(), fmt::format("pgrep -f '{}.*{}' || true", (folder_.path() / "").string(), words)).out;
    std::vector<pid_t> pids;
    for (const std::string& line : split(std::string(trim(found)), '\n')) {
      if (!line.empty()) pids.push_back(static_cast<pid_t>(std::stol(line)));
    }
    return pids;
  }

  /// The process of rank 1 itself, which runs in another network, or the srun that started it.
  pid_t peer(bool srun) const {
    for (const pid_t pid : processes("--rank [1] ")) {
      const std::string name = shell(folder_.path(), fmt::format("cat /proc/{}/comm", pid)).out;  // it may have ended
      if (!name.empty() && name.starts_with("srun") == srun) return pid;
    }
    return -1;
  }

  TemporaryFolder folder_;
  std::string cluster_;  // its folder; empty: none was started
};

TEST_F(SlurmTestSeveralNodes, ARunHasTheLossesOfOneProcessEvenIfAnyIsKilled) {
  write_config(400, "resources: {nodes: 2, cpus: 1, time: 10min}\nsweep: {grid: {seed: [1]}}\n");
  ASSERT_EQ(xlm("sweep run.yaml --runs one").code, 0);
  const std::string submit = "sweep run.yaml --launcher slurm --wait train.processes=2 --runs ";
  const ProgramResult result = xlm(submit + "two");
  ASSERT_EQ(result.code, 0) << result.err << result.out;
  expect_losses_of_one_process("two");
  for (const Json& record : journal("two")) {
    if (record.value("state", "") != "running") continue;
    EXPECT_THAT(record["hosts"], ElementsAre("one", "two"));
  }

  for (const bool srun : {false, true}) {
    const std::string runs = srun ? "srun" : "task";
    ASSERT_EQ(xlm("sweep run.yaml --launcher slurm train.processes=2 --runs " + runs).code, 0);
    until_checkpoint(runs);
    const pid_t victim = peer(srun);
    ASSERT_GT(victim, 0);
    ::kill(victim, SIGKILL);
    const ProgramResult again = xlm(submit + runs);
    EXPECT_EQ(again.code, 0) << again.err << again.out;
    expect_losses_of_one_process(runs);
    EXPECT_THAT(states(runs), ElementsAre("queued", "running", "queued", "running", "done"));
  }
  EXPECT_THAT(processes("--rank [1] "), ElementsAre());
}

TEST_F(SlurmTestSeveralNodes, AStopSavesAndLeavesNoProcess) {
  write_config(100000, "resources: {nodes: 2, cpus: 1, time: 10min}\nsweep: {grid: {seed: [1]}}\n");
  const std::string submit = "sweep run.yaml --launcher slurm train.processes=2";
  for (const std::string& how :
       {std::string("'" XLM_BINARY "' runs stop --where experiment=nodes"), std::string("scancel -u root")}) {
    ASSERT_EQ(xlm(submit).code, 0);
    LocalSlurm::until([&] { return !states("runs").empty() && states("runs").back() == "running"; });
    LocalSlurm::until([&] { return peer(false) > 0; });
    until_checkpoint("runs");
    ASSERT_EQ(shell(folder_.path(), how).code, 0);
    LocalSlurm::until([&] { return states("runs").back() == "preempted"; });
    LocalSlurm::until([&] { return processes("--rank [1] ").empty(); });
    LocalSlurm::until([&] { return trim(shell(folder_.path(), "squeue -h").out).empty(); });
  }
  // The first process: the processes that it started on the other node end with it.
  ASSERT_EQ(xlm(submit).code, 0);
  LocalSlurm::until([&] { return states("runs").back() == "running" && peer(false) > 0; });
  for (const Json& record : journal("runs")) {
    if (record.value("state", "") == "running") ::kill(static_cast<pid_t>(record["pid"].get<std::int64_t>()), SIGKILL);
  }
  shell(folder_.path(), "scancel -u root");
  LocalSlurm::until([&] { return processes("--rank [1] ").empty(); });
}

TEST_F(SlurmTestSeveralNodes, ARunThatIsTypedInAJobUsesItsNodes) {
  write_config(50);
  ASSERT_EQ(xlm("train run.yaml --runs one").code, 0);
  const std::string in_job =
      "sbatch --wait -N2 --ntasks-per-node=1 -o job.log --wrap \"'" XLM_BINARY "' train run.yaml ";
  const ProgramResult two = shell(folder_.path(), in_job + "--runs two train.processes=2\"");
  EXPECT_EQ(two.code, 0) << read_file(folder_.path() / "job.log");
  expect_losses_of_one_process("two");
  const ProgramResult alone = shell(folder_.path(), in_job + "--runs alone train.processes=3\"");
  EXPECT_EQ(alone.code, 0) << read_file(folder_.path() / "job.log");
  expect_losses_of_one_process("alone");
  const ProgramResult log = shell(folder_.path(), "cat alone/*/log.txt");
  EXPECT_THAT(log.out, HasSubstr("the job has 2 nodes, and this one alone is used: the run has train.processes: 3"));
}

TEST_F(SlurmTestSeveralNodes, WhatTheClusterCannotGiveIsRefused) {
  const auto complaint = [&](const std::string& nodes, const std::string& processes) {
    write_config(5, "resources: {nodes: " + nodes + "}\nsweep: {grid: {seed: [1]}}\n");
    const ProgramResult result = xlm("sweep run.yaml --launcher slurm --dry-run train.processes=" + processes);
    EXPECT_EQ(result.code, 2) << result.out;
    return result.err;
  };
  EXPECT_THAT(complaint("3", "3"), AllOf(HasSubstr("run.yaml:6"), HasSubstr("partition main has 2")));
  EXPECT_THAT(complaint("2", "3"), AllOf(HasSubstr("run.yaml:6"), HasSubstr("with train.processes 3")));
}

}  // namespace
}  // namespace xlm
