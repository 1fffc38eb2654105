// What a program takes over from the job in which xlm runs, and what a run without numbers is called.
#include <gmock/gmock.h>

#include "base/machine.h"
#include "tests/experiments/program_of_user_fixture.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class OuterJob : public ProgramOfUser {
 protected:
  /// The lines of `printenv` in the program.
  std::string variables(const std::string& program = "", const std::string& rest = "") {
    configure("[sh, -c, 'printenv | sort; echo loss 1']", "  metrics: [{lines: 'loss (?<loss>.)'}]\n" + program, rest);
    EXPECT_EQ(run({"train", "run.yaml"}).code, kDone);
    return "\n" + output(only_run());
  }
};

TEST_F(OuterJob, AProgramIsNoPartOfItsGroup) {
  const std::map<std::string, std::string> outer{
      {"RANK", "3"},        {"WORLD_SIZE", "4"},       {"LOCAL_RANK", "1"},  {"MASTER_ADDR", "elsewhere"},
      {"MASTER_PORT", "1"}, {"LOCAL_WORLD_SIZE", "2"}, {"GROUP_RANK", "1"},  {"TORCHELASTIC_RUN_ID", "x"},
      {"PET_NNODES", "2"},  {"PMI_RANK", "1"},         {"NODE_RANK", "1"},   {"OMPI_COMM_WORLD_RANK", "2"},
      {"MY_RANK", "5"},     {"SLURM_JOB_NAME", "me"},  {"ROLE_NAME", "none"}};
  for (const auto& [name, value] : outer) ::setenv(name.c_str(), value.c_str(), 1);
  const std::string all = variables("  environment: {LOCAL_RANK: '0'}\n");
  for (const auto& [name, value] : outer) ::unsetenv(name.c_str());
  for (const auto& [name, value] : outer) {
    const bool stays = name == "MY_RANK" || name == "SLURM_JOB_NAME" || name == "LOCAL_RANK";
    EXPECT_EQ(all.find("\n" + name + "=") != std::string::npos, stays) << name;
  }
  EXPECT_THAT(all, HasSubstr("\nLOCAL_RANK=0\n"));
}

TEST_F(OuterJob, ItsProcessesMeetAtAPortOfItsOwn) {
  ::setenv("PET_MASTER_PORT", "1", 1);
  write_script("ports.py",
               "import os, socket, sys\n"
               "port = os.environ['XLM_FREE_PORT']\n"
               "assert port == sys.argv[1] == os.environ['PET_MASTER_PORT'], (port, sys.argv)\n"
               "socket.create_server(('127.0.0.1', int(port)))\n"
               "print('loss 1 at', port)\n");
  configure("[python3, ports.py, '{free_port}']", "  metrics: [{lines: 'loss (?<loss>.)'}]\n",
            "sweep: {grid: {seed: [1, 2]}}\n");
  const ProgramResult swept = run({"sweep", "run.yaml"});
  ::unsetenv("PET_MASTER_PORT");
  ASSERT_EQ(swept.code, kDone) << swept.out << swept.err;
  std::set<std::string> said;
  for (const fs::path& folder : run_folders()) said.insert(read_file(folder / "output.txt"));
  EXPECT_EQ(said.size(), 2U) << "each has its own";
}

TEST_F(OuterJob, ItsProcessesShareTheCores) {
  ::unsetenv("OMP_NUM_THREADS");
  const auto threads = [](const std::string& all) {
    const std::size_t place = all.find("OMP_NUM_THREADS=");
    return std::stoi(all.substr(place + 16));
  };
  const int alone = threads(variables());
  EXPECT_EQ(alone, available_cores()) << "those that a container or an affinity leaves, not the machine's";
  fs::remove_all(runs_);
  EXPECT_EQ(threads(variables("", "train: {processes: 2}\n")), std::max(alone / 2, 1));
}

TEST_F(OuterJob, AFinishedRunWithoutAnyNumberIsAWarningInEveryList) {
  configure("[sh, -c, 'echo nothing']", "", "sweep: {grid: {seed: [1]}}\n");
  const std::string warning = "warning: the program reported no number";
  const ProgramResult sweep = run({"sweep", "run.yaml"});
  EXPECT_EQ(sweep.code, kDone);
  EXPECT_THAT(sweep.out, AllOf(HasSubstr("done, warning"), HasSubstr(warning)));
  EXPECT_THAT(run({"sweep", "run.yaml", "--dry-run"}).out, HasSubstr(warning));
  EXPECT_THAT(run({"runs", "ls"}).out, AllOf(HasSubstr("done, warning"), HasSubstr(warning)));
  EXPECT_THAT(run({"runs", "ls", "--columns", "status"}).out, HasSubstr(warning));
  EXPECT_THAT(run({"runs", "ls", "--json"}).out, HasSubstr(warning));
  EXPECT_THAT(run({"runs", "show", only_run().id}).out, HasSubstr(warning));
  EXPECT_THAT(run({"runs", "watch", "run.yaml", "--once"}).out, HasSubstr("done, warning"));
}

TEST_F(OuterJob, ARunWithNumbersIsNone) {
  configure_training("", "sweep: {grid: {seed: [1]}}\n");
  EXPECT_THAT(run({"sweep", "run.yaml"}).out, Not(HasSubstr("warning")));
  EXPECT_EQ(only_run().reason, "");
}

}  // namespace
}  // namespace xlm
