// Requests to a cluster: resources, site files, batch scripts, and the output of Slurm's commands.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>

#include "base/command.h"
#include "base/error.h"
#include "experiments/launchers/site.h"
#include "experiments/launchers/slurm.h"
#include "experiments/launchers/slurm_script.h"
#include "experiments/runs/submission.h"
#include "experiments/sweeps/recipe.h"
#include "results/run_folder/journal.h"
#include "tests/experiments/experiment_files.h"
#include "tests/temporary_folder.h"
#include "tests/thrown_message.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Resources resources_of(const std::string& text) {
  const Yaml tree = parse_yaml(text, "sweep.yaml");
  return read_resources(&tree);
}

std::string site_complaint(const std::string& text) {
  return thrown_message([&] { resources_of(text); });
}

TEST(Resources, AreReadWithTheirUnitsAndPlaces) {
  const Resources read = resources_of("cpus: 8\ngpus: 0\nmemory: 1.5GB\ntime: 1d2h30min\n");
  EXPECT_EQ(read.cpus.value, 8);
  EXPECT_TRUE(read.gpus.known());
  EXPECT_EQ(read.memory.value, 1.5e9);
  EXPECT_EQ(read.time.value, 86400 + 2 * 3600 + 30 * 60);
  EXPECT_EQ(read.time.source, "sweep.yaml:4");
  EXPECT_FALSE(resources_of("cpus: 1").time.known());
}

TEST(Resources, ThatMeanNothingAreRefused) {
  EXPECT_THAT(site_complaint("time: 30"), HasSubstr("sweep.yaml:1: resources.time must be a time with its unit"));
  EXPECT_THAT(site_complaint("time: h"), HasSubstr("unit"));
  EXPECT_THAT(site_complaint("time: 0h"), HasSubstr("unit"));
  EXPECT_THAT(site_complaint("memory: 32"), HasSubstr("size with its unit"));
  EXPECT_THAT(site_complaint("cpus: 0"), HasSubstr("1 or more"));
  for (const char* gpus : {"-1", "a100:", "a100:x", "2:a100"}) {
    EXPECT_THAT(site_complaint(fmt::format("gpus: '{}'", gpus)), HasSubstr("0 or more")) << gpus;
  }
  EXPECT_THAT(site_complaint("gpu: 1"), HasSubstr("did you mean 'gpus'"));
  EXPECT_THAT(site_complaint("[1]"), HasSubstr("must be a map"));
}

TEST(Resources, OfTheSweepOverrideThoseOfTheSite) {
  EXPECT_EQ(or_else(resources_of("cpus: 2"), resources_of("gpus: a100:2")).gpu_type, "a100");
  EXPECT_EQ(or_else(resources_of("gpus: 2"), resources_of("gpus: a100:2")).gpu_type, "") << "another kind will do";
  const Resources both = or_else(resources_of("cpus: 2"), resources_of("cpus: 4\ntime: 1h"));
  EXPECT_EQ(both.cpus.value, 2);
  EXPECT_EQ(both.time.value, 3600);
}

TEST(Resources, AreLearnedFromRunsThatAreDone) {
  const TemporaryFolder folder;
  const fs::path data = make_data(folder.path() / "data");
  const Yaml tree = parse_yaml(run_config(data, "sweep: {grid: {seed: [1, 2]}}\n"), "sweep.yaml");
  std::vector<SweepRun> runs = plan_sweep(recipe_of(tree), folder.path() / "runs", false);
  EXPECT_FALSE(learned_resources(runs).time.known());
  submit(runs[0].planned);
  double time = 100;
  Journal journal(runs[0].planned.paths.journal(), [&] { return time; });
  journal.append("state", {{"state", "running"}});
  journal.append("costs", {{"values", {{"peak_memory", 2e8}}}});
  time = 1100;
  journal.append("state", {{"state", "preempted"}});
  time = 9000;  // no run is running
  journal.append("state", {{"state", "running"}});
  journal.append("metric", {{"step", 10}, {"values", {{"loss", 1}}}});
  time = 10000;
  journal.append("state", {{"state", "done"}});
  write_file(runs[0].planned.paths.environment(), R"({"device": "cpu"})");
  for (SweepRun& run : runs) look_at(run, false);
  const Resources learned = learned_resources(runs);
  EXPECT_EQ(learned.time.value, 3000) << "10 steps of 200 s, plus half, in whole ten minutes";
  EXPECT_THAT(learned.time.source, HasSubstr(runs[0].id()));
  EXPECT_DOUBLE_EQ(learned.memory.value, 3e8);
  write_file(runs[0].planned.paths.environment(), R"({"device": "cuda:0"})");
  EXPECT_FALSE(learned_resources(runs).memory.known()) << "the memory of a GPU";
}

TEST(Site, IsFoundByOptionVariableAndDefaultPlace) {
  const TemporaryFolder folder;
  ::unsetenv("XLM_SITE");
  ::setenv("XDG_CONFIG_HOME", folder.path().c_str(), 1);
  EXPECT_EQ(find_site(""), "");
  create_folders(folder.path() / "xlm");
  write_file(folder.path() / "xlm" / "site.yaml", "partition: gpu\n");
  EXPECT_EQ(find_site(""), folder.path() / "xlm" / "site.yaml");
  ::setenv("XLM_SITE", "/elsewhere", 1);
  EXPECT_EQ(find_site(""), "/elsewhere");
  EXPECT_EQ(find_site("named"), "named");
  ::unsetenv("XLM_SITE");
  ::unsetenv("XDG_CONFIG_HOME");
}

TEST(Site, ARelativeFolderOfConfigurationIsIgnored) {  // as the XDG Base Directory Specification says
  const TemporaryFolder folder;
  const fs::path before = fs::current_path();
  const char* const set_home = std::getenv("HOME");
  const std::string home = set_home == nullptr ? "" : set_home;
  ::unsetenv("XLM_SITE");
  ::setenv("HOME", (folder.path() / "home").c_str(), 1);
  for (const char* place : {"here/xlm", "xlm", "home/.config/xlm"}) {
    create_folders(folder.path() / place);
    write_file(folder.path() / place / "site.yaml", "partition: gpu\n");
  }
  fs::current_path(folder.path());
  for (const char* relative : {"here", "./here", ".", "../", ""}) {
    ::setenv("XDG_CONFIG_HOME", relative, 1);
    EXPECT_EQ(find_site(""), folder.path() / "home/.config/xlm/site.yaml") << relative;
  }
  fs::current_path(before);
  ::unsetenv("XDG_CONFIG_HOME");
  set_home == nullptr ? ::unsetenv("HOME") : ::setenv("HOME", home.c_str(), 1);
}

TEST(Site, IsReadStrictly) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "site.yaml";
  write_file(file,
             "partition: gpu\nresources: {time: 2h}\nsave: 5min\ndirectives: [--constraint=a100]\nsetup: [module load "
             "cuda]\ncontainer: apptainer exec x.sif\n");
  const Site site = read_site(file);
  EXPECT_EQ(site.partition, "gpu");
  EXPECT_EQ(site.save, 300);
  EXPECT_EQ(site.resources.time.value, 7200);
  EXPECT_THAT(site.directives, testing::ElementsAre("--constraint=a100"));
  EXPECT_THAT(site.setup, testing::ElementsAre("module load cuda"));
  for (const char* wrong :
       {"partiton: gpu\n", "directives: [constraint]\n", "setup: module load cuda\n", "account: \"a\\nb\"\n",
        "- partition\n", "directives: [--time=10]\n", "directives: [-t 10]\n"}) {
    write_file(file, wrong);
    EXPECT_THROW(read_site(file), UsageError) << wrong;
  }
  write_file(file, "# nothing yet\n");
  EXPECT_FALSE(read_site(file).save.has_value());
  EXPECT_THROW(read_site(folder.path() / "none.yaml"), UsageError);
}

TEST(Site, DirectivesThatAWorkersScriptDependsOnAreRefused) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "site.yaml";
  const auto complaint = [&](const std::string& directive) {
    write_file(file, fmt::format("directives: ['{}']\n", directive));
    return thrown_message([&] { read_site(file); });
  };
  const std::vector<std::pair<std::string, std::string>> refused{{"--time=10", "resources.time"},
                                                                 {"-t10", "resources.time"},
                                                                 {"--gres=gpu:1", "resources.gpus"},
                                                                 {"--gres gpu:a100:1", "resources.gpus"},
                                                                 {"--gres=tmpfs:10G,gpu", "resources.gpus"},
                                                                 {"--gpus=2", "resources.gpus"},
                                                                 {"-G2", "resources.gpus"},
                                                                 {"--gpus-per-node=a100:2", "resources.gpus"},
                                                                 {"--gpus-per-task 2", "resources.gpus"},
                                                                 {"--mem-per-cpu=4G", "resources.memory"},
                                                                 {"--mem-per-gpu=4G", "resources.memory"},
                                                                 {"--cpus-per-gpu=4", "resources.cpus"},
                                                                 {"--nodes 2", "one task on one node"},
                                                                 {"-N2", "one task on one node"},
                                                                 {"--ntasks=4", "one task on one node"},
                                                                 {"-n 4", "one task on one node"},
                                                                 {"--ntasks-per-node=4", "one task on one node"},
                                                                 {"-A other", "account"},
                                                                 {"--qos=high", "qos"},
                                                                 {"-q high", "qos"},
                                                                 {"--job-name=mine", "experiment"},
                                                                 {"-J mine", "experiment"},
                                                                 {"--output=log", "folder of runs"},
                                                                 {"-o log", "folder of runs"},
                                                                 {"--error=log", "folder of runs"},
                                                                 {"-e log", "folder of runs"},
                                                                 {"--open-mode=truncate", "log"},
                                                                 {"--no-requeue", "returns to the queue"}};
  for (const auto& [directive, instead] : refused) {
    EXPECT_THAT(complaint(directive), AllOf(HasSubstr("directives may not have "), HasSubstr(instead))) << directive;
  }
  for (const char* free : {"--constraint=a100", "--exclude=node1", "-x node1", "--nice=5", "--requeue",
                           "--gres=tmpfs:10G", "--gres gpumem:4"}) {
    EXPECT_EQ(complaint(free), "") << free;
  }
}

TEST(SlurmScript, AsksForNoMoreThanTheRequest) {
  LaunchRequest request{.list = {.name = "spans-1a2b3c4d", .runs = "/scratch/my runs", .items = {}},
                        .asked = {},
                        .site = {.partition = "gpu",
                                 .directives = {"--constraint=a100"},
                                 .setup = {"module load cuda"},
                                 .container = "apptainer exec --nv x.sif"},
                        .program = "/scratch/my runs/xlm",
                        .save = 90};
  const std::string full = slurm_script(request, resources_of("{cpus: 8, gpus: 2, memory: 1GB, time: 90s}"), 16);
  EXPECT_THAT(full, AllOf(HasSubstr("#SBATCH --array=0-15\n"), HasSubstr("#SBATCH --partition=gpu\n"),
                          HasSubstr("#SBATCH --cpus-per-task=8\n"), HasSubstr("#SBATCH --gres=gpu:2\n"),
                          HasSubstr("#SBATCH --mem=954M\n"), HasSubstr("#SBATCH --time=2\n"),
                          HasSubstr("#SBATCH --signal=B:USR1@90\n"), HasSubstr("#SBATCH --constraint=a100\n")));
  EXPECT_THAT(full,
              AllOf(HasSubstr("\nmodule load cuda\n"), HasSubstr("\napptainer exec --nv x.sif '/scratch/my runs/xlm' "
                                                                 "worker --sweep '/scratch/my runs/.workers/")));
  EXPECT_THAT(full, AllOf(HasSubstr("#SBATCH --ntasks=1\n"), Not(HasSubstr("--nodes"))));
  request.list.runs = "/scratch/100 % mine";
  EXPECT_THAT(slurm_script(request, resources_of("{cpus: 1}"), 1),
              HasSubstr("\n#SBATCH '--output=/scratch/100 %% mine/.workers/spans-1a2b3c4d/%A_%a.log'\n"));
  EXPECT_THAT(slurm_script(request, resources_of("{cpus: 1, gpus: a100:2}"), 1),
              HasSubstr("#SBATCH --gres=gpu:a100:2\n"));
  EXPECT_THAT(full, HasSubstr("#SBATCH --requeue\n"));
  EXPECT_THAT(slurm_script(request, resources_of("{cpus: 1}"), 1, true), HasSubstr("#SBATCH --requeue=expedite\n"));
  const std::string little = slurm_script(request, resources_of("{cpus: 1, gpus: 0}"), 1);
  EXPECT_THAT(little, AllOf(Not(HasSubstr("--mem")), Not(HasSubstr("--time=")), Not(HasSubstr("--gres"))));
  EXPECT_THAT(little, AllOf(Not(HasSubstr("--account")), Not(HasSubstr("--qos"))));
}

TEST(SlurmScript, TellsAWorkerItsEndIfSqueueKnowsIt) {
  const TemporaryFolder folder;
  const auto write_program = [&](const std::string& name, const std::string& text) {
    write_file(folder.path() / name, "#!/bin/sh\n" + text + "\n");
    fs::permissions(folder.path() / name, fs::perms::owner_all);
  };
  write_program("worker", "echo \"$@\"");
  const LaunchRequest request{.list = {.name = "spans", .runs = "/scratch", .items = {}},
                              .asked = {},
                              .site = {},
                              .program = folder.path() / "worker",
                              .save = 90};
  write_file(folder.path() / "script", slurm_script(request, resources_of("{cpus: 1, gpus: 0}"), 1));
  const auto words_where = [&](const std::string& squeue) {
    write_program("squeue", squeue);
    const fs::path script = folder.path() / "script";
    return run_command({"env", "TZ=UTC", fmt::format("PATH={}:/usr/bin:/bin", folder.path().string()), "bash", script})
        .out;
  };
  EXPECT_THAT(words_where("echo 2026-03-04T05:06:07"), HasSubstr("--until 1772600677\n"));  // date -u +%s, less 90
  for (const char* silent : {"exit 1", "true", "echo N/A"}) {
    EXPECT_THAT(words_where(silent), AllOf(HasSubstr("worker --sweep"), Not(HasSubstr("--until")))) << silent;
  }
}

/// Setup is of several lines, one of which is a loop, and what a sourced file does in vain is its own business.
TEST(SlurmScript, SetupThatFailsEndsTheJobBeforeARunBegins) {
  const TemporaryFolder folder;
  write_file(folder.path() / "worker", "#!/bin/sh\necho \"it works with $SET\"\n");
  fs::permissions(folder.path() / "worker", fs::perms::owner_all);
  write_file(folder.path() / "sourced", "false\nSET=all\n");
  LaunchRequest request{.list = {.name = "spans", .runs = "/scratch", .items = {}},
                        .asked = {},
                        .site = {},
                        .program = folder.path() / "worker",
                        .save = 90};
  const auto result_with = [&](const std::vector<std::string>& setup) {
    request.site.setup = {"for i in 1 2; do", "  false || true", "done",
                          "source " + (folder.path() / "sourced").string(), "export SET"};
    request.site.setup.insert(request.site.setup.end(), setup.begin(), setup.end());
    return run_command({"bash"}, slurm_script(request, resources_of("{cpus: 1, gpus: 0}"), 1));
  };
  EXPECT_EQ(result_with({}).out, "it works with all\n");
  const CommandResult failed = result_with({"(exit 3)", "echo later"});
  EXPECT_EQ(failed.code, 3);
  EXPECT_EQ(failed.out, "");
  EXPECT_THAT(failed.err, HasSubstr("setup of the site file failed with code 3: ( exit 3 )\n"));
}

TEST(SlurmScript, ExcludesFailedMachinesInAdditionToTheSites) {
  LaunchRequest request{.list = {.name = "spans", .runs = "/scratch", .items = {}},
                        .asked = {},
                        .site = {},
                        .program = "/scratch/xlm",
                        .save = 90,
                        .exclude = {"node3", "node7"}};
  const Resources resources = resources_of("{cpus: 1, gpus: 0}");
  EXPECT_THAT(slurm_script(request, resources, 1), HasSubstr("\n#SBATCH --exclude=node3,node7\n"));
  request.site.directives = {"--exclude=node1", "--constraint=a100"};
  const std::string both = slurm_script(request, resources, 1);
  EXPECT_THAT(both, HasSubstr("\n#SBATCH --exclude=node1,node3,node7\n#SBATCH --constraint=a100\n"));
  EXPECT_EQ(both.find("--exclude"), both.rfind("--exclude")) << "the second would count alone";
  request.exclude.clear();
  EXPECT_THAT(slurm_script(request, resources, 1), HasSubstr("\n#SBATCH --exclude=node1\n"));
}

TEST(SlurmScript, AsksForGpusInAdditionToTheSitesResources) {
  LaunchRequest request{.list = {.name = "spans", .runs = "/scratch", .items = {}},
                        .asked = {},
                        .site = {.directives = {"--gres=tmpfs:10G", "--nice=5"}},
                        .program = "/scratch/xlm",
                        .save = 90};
  const std::string both = slurm_script(request, resources_of("{cpus: 1, gpus: 2}"), 1);
  EXPECT_THAT(both, HasSubstr("\n#SBATCH --gres=tmpfs:10G,gpu:2\n#SBATCH --nice=5\n"));
  EXPECT_EQ(both.find("--gres"), both.rfind("--gres")) << "the second would count alone";
  EXPECT_THAT(slurm_script(request, resources_of("{cpus: 1, gpus: 0}"), 1), HasSubstr("\n#SBATCH --gres=tmpfs:10G\n"));
}

TEST(Resources, FailedNodesAreKnownFromTheJournalsOfUnfinishedRuns) {
  const TemporaryFolder folder;
  const fs::path data = make_data(folder.path() / "data");
  const Yaml tree = parse_yaml(run_config(data, "sweep: {grid: {seed: [1, 2, 3, 4]}}\n"), "sweep.yaml");
  std::vector<SweepRun> runs = plan_sweep(recipe_of(tree), folder.path() / "runs", false);
  const auto lost = [&](std::size_t i, const char* host, const char* job, const char* cause) {
    submit(runs[i].planned);
    Journal journal(runs[i].planned.paths.journal());
    journal.append("state", {{"state", "running"}, {"host", host}, {"pid", 7}, {"job", job}});
    journal.append("state", {{"state", "queued"}, {"cause", cause}, {"reason", "gone"}});
  };
  lost(0, "node3.cluster.example", "here:12_1", "node");
  lost(0, "node4", "here:12_1", "killed");
  lost(1, "node5", "elsewhere:3_1", "node");
  lost(2, "node6", "here:12_2", "node");
  Journal(runs[2].planned.paths.journal()).append("state", {{"state", "done"}});
  lost(3, "node7", "here:12_3", "node");
  fs::remove(runs[3].planned.paths.config());
  for (SweepRun& run : runs) look_at(run, false);
  ASSERT_TRUE(runs[3].status.is_damaged);
  EXPECT_THAT(failed_nodes(runs, "here"), testing::ElementsAre("node3")) << "a damaged run stops no submission";
}

TEST(Slurm, NodesThatTakeNoJobsAreKnownFromTheirStates) {
  std::string usable;
  for (const SlurmNode& node : read_nodes("a|idle\nb|down*\nc|mixed\nd|draining\ne|idle*\nf|idle~\ng|drained\n")) {
    if (node.usable) usable += node.name;
  }
  EXPECT_EQ(usable, "acf");
  EXPECT_TRUE(read_nodes("").empty());
}

TEST(Slurm, NamesOfGenericResourcesAreComparedWhole) {
  const auto gpus = [](const std::string& resources) {
    SlurmCluster cluster;
    read_partitions(cluster, "all*|1:00:00|n/a|8|" + resources + "|3\n");
    return cluster.partitions.at(0).gpus;
  };
  EXPECT_EQ(gpus("gpu_memory:80000,gpu:2"), 2);
  EXPECT_EQ(gpus("gpu:a100:4(S:0-1),gpumem:40"), 4);
  EXPECT_EQ(gpus("gpus:16"), 0);
  EXPECT_EQ(gpus("mps:100,gpu(S:0,1)"), 1);
  EXPECT_EQ(gpus("(null)"), 0);
}

TEST(Slurm, AGpusShareOfCpusIsThatOfNodesWithGpus) {
  SlurmCluster cluster;
  read_partitions(cluster,
                  "all*|1:00:00|n/a|8|(null)|20\nall*|1:00:00|n/a|128|gpu:a100:8(S:0-3)|4\n"
                  "all*|1:00:00|n/a|96|gpu:h100:4|4\n");
  const SlurmPartition& all = cluster.partitions.at(0);
  EXPECT_EQ(all.share_cpus, 128);
  EXPECT_EQ(all.share_gpus, 8) << "16 for each, and 24 where there are four";
  EXPECT_EQ(all.cpus, 8);
  EXPECT_EQ(all.most_cpus, 128);
}

TEST(Slurm, SeveralPartitionsGiveWhatTheLargestOfThemGives) {
  SlurmCluster cluster;
  read_partitions(cluster, "day*|1-00:00:00|1:00:00|16|(null)|20\nweek|7-00:00:00|2:00:00|64|gpu:a100:4|4\n");
  const SlurmPartition both = cluster.partition("day,week");
  EXPECT_EQ(both.name, "day,week");
  EXPECT_EQ(both.time_limit, 7 * 86400);
  EXPECT_EQ(both.default_time, 3600) << "a worker that asks for no time must save in time everywhere";
  EXPECT_EQ(both.cpus, 16);
  EXPECT_EQ(both.most_cpus, 64);
  EXPECT_EQ(both.gpus, 4);
  EXPECT_EQ(both.share_cpus, 64);
  EXPECT_THAT(thrown_message([&] { cluster.partition("day,weak"); }), HasSubstr("did you mean 'week'"));
}

TEST(Slurm, ExpeditedRequeuesCameWithItsVersion25_11) {
  for (const auto& [version, has] : std::map<std::string, bool>{
           {"22.05.8", false}, {"25.05.4", false}, {"25.11.0", true}, {"26.05.0", true}, {"", false}}) {
    EXPECT_EQ(SlurmCluster{.version = version}.has_expedited_requeue(), has) << version;
  }
}

TEST(Slurm, TheNumberOfAJobStandsBelowWhatASitePrints) {
  EXPECT_EQ(job_number_in("4711\n"), "4711");
  EXPECT_EQ(job_number_in("4711;north\n"), "4711");
  EXPECT_EQ(job_number_in("-----\n  Welcome, 2 messages\n2026\n--> Checking allocation (AB-123)...OK\n101\n"), "101");
  EXPECT_EQ(job_number_in("101\n3 jobs of yours are queued\n"), "101");
  EXPECT_EQ(job_number_in("Submitted batch job 12\n"), "12");
  EXPECT_EQ(job_number_in("Submitted batch job 12 on cluster north\n"), "12");
  for (const char* none : {"", "Welcome\n", "0\n", "-5\n", "12 jobs\n"}) EXPECT_EQ(job_number_in(none), "") << none;
}

TEST(Resources, PaceIsThatOfTheSlowestFinishedRunAndTheLongestCheckpoint) {
  const TemporaryFolder folder;
  const fs::path data = make_data(folder.path() / "data");
  const Yaml tree = parse_yaml(run_config(data, "sweep: {grid: {seed: [1, 2, 3]}}\n"), "sweep.yaml");
  const std::vector<SweepRun> runs = plan_sweep(recipe_of(tree), folder.path() / "runs", false);
  const auto work = [&](std::size_t i, double seconds, double saving, const char* state) {
    submit(runs[i].planned);
    double time = 100;
    Journal journal(runs[i].planned.paths.journal(), [&] { return time; });
    journal.append("state", {{"state", "running"}});
    journal.append("metric", {{"step", 10}, {"values", {{"loss", 1}}}});
    journal.append("checkpoint", {{"step", 4}, {"file", "checkpoints/4"}, {"seconds", saving}});
    journal.append("checkpoint", {{"step", 8}, {"file", "checkpoints/8"}});  // without how long it took
    time += seconds;
    journal.append("state", {{"state", state}});
    create_folders(std::string(state) == "done" ? runs[i].planned.paths.model() : runs[i].planned.paths.checkpoints());
  };
  EXPECT_EQ(pace_of(runs, 16).step, 0);
  work(0, 50, 7, "done");
  work(1, 300, 9, "preempted");
  work(2, 80, 3, "done");
  EXPECT_EQ(pace_of(runs, 16).step, 8) << "what one takes that is not done is not known";
  EXPECT_EQ(pace_of(runs, 16).checkpoint, 9) << "one that takes longer than a job has checkpoints, too";
  EXPECT_EQ(pace_of(runs, 1).step, 5) << "no more folders are read than that";
  EXPECT_EQ(pace_of(runs, 1).checkpoint, 7);
}

TEST(Resources, TheTimeToSaveFollowsCheckpointsByDefault) {
  EXPECT_EQ(save_seconds(std::nullopt, 0, 0), 120);
  EXPECT_EQ(save_seconds(std::nullopt, 2, 0), 120) << "steps and evaluations take time, too";
  EXPECT_EQ(save_seconds(std::nullopt, 100, 36000), 400);
  EXPECT_EQ(save_seconds(std::nullopt, 100, 600), 300) << "half of the time";
  EXPECT_EQ(save_seconds(60.0, 100, 36000), 60);
}

TEST(Slurm, TimesAreReadInAllItsForms) {
  EXPECT_EQ(slurm_seconds("1-02:03:04"), 86400 + 2 * 3600 + 3 * 60 + 4);
  EXPECT_EQ(slurm_seconds("2-00"), 2 * 86400);
  EXPECT_EQ(slurm_seconds("2:03:04"), 2 * 3600 + 3 * 60 + 4);
  EXPECT_EQ(slurm_seconds("30:15"), 30 * 60 + 15);
  EXPECT_EQ(slurm_seconds("15"), 15 * 60);
  EXPECT_EQ(slurm_seconds("infinite"), 0);
  EXPECT_EQ(slurm_seconds("n/a"), 0);
}

}  // namespace
}  // namespace xlm
