// Training by the program, with a core that needs no torch.
#include <gmock/gmock.h>

#include "base/json.h"
#include "base/text.h"
#include "tests/experiments/program_fixture.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(ProgramTest, TrainPrintsResultsAndSkipsTheSecondTime) {
  const ProgramResult first = run({"train", "run.yaml"});
  EXPECT_EQ(first.code, kDone) << first.err;
  EXPECT_THAT(first.out, AllOf(HasSubstr("test"), HasSubstr("2.01"), HasSubstr("bpc")));
  const ProgramResult second = run({"train", "run.yaml", "--json"});
  EXPECT_EQ(second.code, kDone);
  EXPECT_THAT(second.err, HasSubstr("done already"));
  const Json json = Json::parse(second.out);
  EXPECT_EQ(json["status"], "done");
  EXPECT_EQ(json["evaluations"].size(), 2U);
  EXPECT_EQ(json["run_id"], run_folders().front().filename().string());
  EXPECT_TRUE(fs::exists(runs_ / "results.db"));
}

TEST_F(ProgramTest, AProcessThatARunDoesNotHaveIsRefused) {
  ASSERT_EQ(run({"train", "run.yaml"}).code, kDone);
  const std::string meeting = (folder_.path() / "meeting").string();
  const ProgramResult result = run({"worker", run_folders().front().string(), "--rank", "1", "--meeting", meeting});
  EXPECT_EQ(result.code, kUsage);
  EXPECT_THAT(result.err, HasSubstr("train.processes=1: none of them has rank 1"));
}

TEST_F(ProgramTest, OneProcessDoesARunOnTheCpu) {
  const std::string complaint =
      "train.processes=2: several processes do one run on GPUs, one on each, and this run is "
      "on the CPU\nleave train.processes out: one process uses all cores";
  write_sweep("sweep: {grid: {seed: [1]}}\n");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"train", "run.yaml"}, std::vector<std::string>{"sweep", "sweep.yaml"}}) {
    const ProgramResult early = run({command[0], command[1], "train.processes=2", "device=cpu"});
    EXPECT_EQ(early.code, kUsage) << early.err;
    EXPECT_THAT(early.err, HasSubstr(complaint)) << command[0];
    EXPECT_FALSE(fs::exists(runs_)) << "before anything is written";
  }
  const ProgramResult late = run({"train", "run.yaml", "train.processes=2", "device=auto"});
  EXPECT_EQ(late.code, kUsage) << "the machine has no GPU: " << late.err;
  EXPECT_THAT(late.err, HasSubstr(complaint));
}

// Earlier versions had several processes on the CPU.
TEST_F(ProgramTest, OneProcessResumesARunOfSeveral) {
  order("fail-at=3");
  EXPECT_EQ(run({"train", "run.yaml", "train.checkpoint_every=2", "train.threads=3"}).code, kFailed);
  const RunPaths paths{run_folders().front()};
  std::string config = read_file(paths.config());
  config.replace(config.find("processes: 1"), 12, "processes: 2");
  write_file(paths.config(), config);
  Json environment = read_json(paths.environment());
  environment["processes"] = 2;
  environment["hosts"] = {"one", "two"};
  write_file(paths.environment(), environment.dump());
  order("");
  const ProgramResult result = run({"train", paths.config().string(), "--runs", runs_.string()});
  EXPECT_EQ(result.code, kDone) << result.err;
  EXPECT_THAT(result.err, HasSubstr("note: train.processes=2 is for GPUs: one process resumes this run, with the same "
                                    "batches; its sums add up in another order"));
  EXPECT_EQ(run_folders().size(), 1U);
  const xlm::Run made = read_run(paths.folder);
  EXPECT_EQ(made.status, RunStatus::kDone);
  EXPECT_EQ(made.environment["processes"], 1);
  EXPECT_EQ(made.environment["threads"], 3);
  EXPECT_FALSE(made.environment.contains("hosts"));
}

TEST_F(ProgramTest, TrainQuietSaysNothingButResults) { EXPECT_EQ(run({"train", "run.yaml", "--quiet"}).err, ""); }

TEST_F(ProgramTest, TrainPrintsTheResolvedConfigurationAndWritesNothing) {
  const ProgramResult result = run({"train", "run.yaml", "seed=4", "--print-config"});
  EXPECT_EQ(result.code, kDone);
  EXPECT_THAT(result.out, AllOf(HasSubstr("seed: 4"), HasSubstr("experiment: run"), HasSubstr("span_penalty: ")));
  EXPECT_FALSE(fs::exists(runs_));
}

// Nine tokens are two rows of four: an epoch is one block of two.
TEST_F(ProgramTest, ALengthInEpochsIsShownInSteps) {
  const ProgramResult config =
      run({"train", "run.yaml", "train.steps=0", "train.block=2", "train.epochs=7", "--print-config"});
  EXPECT_THAT(config.out, AllOf(HasSubstr("steps: 7\n"), HasSubstr("epochs: 0"))) << config.err;
  write_sweep("sweep: {grid: {train.epochs: [3, 40]}}\n");
  const std::vector<std::string> plan{"sweep", "sweep.yaml", "train.steps=0", "train.block=2", "--dry-run"};
  EXPECT_THAT(run(plan).out, HasSubstr("  steps"));
  std::vector<std::string> json = plan;
  json.emplace_back("--json");
  const Json runs = Json::parse(run(json).out);
  EXPECT_EQ(runs[0]["steps"], 3);
  EXPECT_EQ(runs[1]["steps"], 40);
}

TEST_F(ProgramTest, TrainStopsOnASignalAndResumes) {
  write_file(hold(), "");
  BackgroundProgram program = start({"train", "run.yaml"});
  until([&] { return count_running() == 1; });
  program.kill(SIGINT);
  const ProgramResult stopped = program.wait();
  EXPECT_EQ(stopped.code, kStopped);
  EXPECT_THAT(stopped.err, HasSubstr("run the same command again"));
  fs::remove(hold());
  EXPECT_EQ(run({"train", "run.yaml"}).code, kDone);
  EXPECT_EQ(steps(run_folders().front()).size(), 10U);
}

TEST_F(ProgramTest, TrainRefusesARunThatAnotherProcessDoes) {
  write_file(hold(), "");
  BackgroundProgram program = start({"train", "run.yaml"});
  until([&] { return count_running() == 1; });
  const ProgramResult second = run({"train", "run.yaml"});
  EXPECT_EQ(second.code, kFailed);
  EXPECT_THAT(second.err, HasSubstr("is in use by process"));
  fs::remove(hold());
  EXPECT_EQ(program.wait().code, kDone);
}

TEST_F(ProgramTest, TrainReportsDivergence) {
  order("diverge-at=5");
  const ProgramResult result = run({"train", "run.yaml", "--json"});
  EXPECT_EQ(result.code, kDiverged);
  EXPECT_EQ(Json::parse(result.out)["status"], "diverged");
  EXPECT_THAT(result.err, HasSubstr("NaN at step 5"));
  EXPECT_THAT(run({"train", "run.yaml"}).err, HasSubstr("--retry"));
}

TEST_F(ProgramTest, CompletionKnowsCommandsOptionsKeysAndTheirValues) {
  const auto complete = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"complete", "--"});
    const ProgramResult result = run(words);
    EXPECT_EQ(result.code, kDone) << result.err;
    return result.out;
  };
  EXPECT_THAT(complete({"prep"}), HasSubstr("prepare-data\tTurn a raw corpus"));
  EXPECT_THAT(complete({""}), AllOf(HasSubstr("sweep\t"), Not(HasSubstr("worker")), Not(HasSubstr("complete\t"))));
  EXPECT_THAT(complete({"runs", ""}), AllOf(HasSubstr("ls\t"), HasSubstr("show\t"), Not(HasSubstr("train"))));
  EXPECT_THAT(complete({"sweep", "--dry"}), HasSubstr("--dry-run\t"));
  EXPECT_THAT(complete({"sweep", "--"}), Not(HasSubstr("--print-reference")));
  EXPECT_EQ(complete({"sweep", "--launcher=l"}), "--launcher=local\n");
  EXPECT_THAT(complete({"train", "run.yaml", "optimizer.l"}), HasSubstr("optimizer.lr=\t"));
  EXPECT_EQ(complete({"train", "run.yaml", "optimizer.type=ada"}),
            "optimizer.type=adagrad\noptimizer.type=adam\noptimizer.type=adamw\n");
  EXPECT_THAT(complete({"eval", "some-run", "eval."}), AllOf(HasSubstr("eval.batch="), Not(HasSubstr("eval.select"))));
  EXPECT_EQ(complete({"eval", "some-run", "optimizer.lr"}), "") << "decided by training";
  EXPECT_EQ(complete({"sample", "some-run", "train.p"}), "") << "of no use there";
  EXPECT_EQ(complete({"table", "t.yaml", "--format", "la"}), "latex\n");
  EXPECT_THAT(complete({"prepare-data", "text"}), AllOf(HasSubstr("text8\t"), HasSubstr("text\t")));
  EXPECT_EQ(complete({"completion", ""}), "bash\nfish\nzsh\n");
  EXPECT_THAT(complete({"help", "ev"}), HasSubstr("eval-overlap\t"));
  EXPECT_EQ(complete({"train", ""}), ":files\n");
}

TEST_F(ProgramTest, CompletionKnowsRuns) {
  const std::string id = Json::parse(run({"train", "run.yaml", "--json"}).out)["run_id"];
  const auto complete = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"complete", "--"});
    return run(words).out;
  };
  EXPECT_EQ(complete({"runs", "show", id.substr(0, 5)}), id + "\n:files\n");
  EXPECT_EQ(complete({"--runs", "elsewhere", "runs", "show", ""}), ":files\n");
}

TEST_F(ProgramTest, ShellsAskTheProgramWhatFits) {
  for (const char* shell : {"zsh", "fish"})
    EXPECT_THAT(run({"completion", shell}).out, HasSubstr("complete --")) << shell;
  EXPECT_EQ(Json::parse(run({"completion", "bash", "--json"}).out),
            Json({{"shell", "bash"}, {"script", run({"completion", "bash"}).out}}));
  const auto in_bash = [&](const std::string& line) {
    BackgroundProgram bash(
        {"/bin/bash", "-c",
         run({"completion", "bash"}).out + "\nPATH='" + fs::path(XLM_FAKE_BINARY).parent_path().string() +
             "':$PATH COMP_LINE='xlm " + line + "'; COMP_POINT=${#COMP_LINE}; _xlm; printf '%s|' \"${COMPREPLY[@]}\""},
        folder_.path());
    return bash.wait().out;
  };
  EXPECT_EQ(in_bash("sweep --dry"), "--dry-run|");
  EXPECT_EQ(in_bash("train run.yaml optimizer.type=adag"), "adagrad|") << "bash completes what is behind the =";
  EXPECT_EQ(in_bash("train run.y"), "run.yaml|");
}

TEST_F(ProgramTest, WhatARecipeRequiresIsAskedForBeforeAnythingIsDone) {
  write_file(
      folder_.path() / "sweep.yaml",
      run_config("data",
                 "require: [model.init_from]\nsweep: {grid: {seed: [1, 2]}}\n"
                 "tables: [{table: T, rows: seed, cells: {value: test.bpc}}]\nprofiles: {small: {require: null}}\n"));
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"sweep", "sweep.yaml"}, {"sweep", "sweep.yaml", "--dry-run"}, {"train", "sweep.yaml"}}) {
    const ProgramResult refused = run(arguments);
    EXPECT_EQ(refused.code, kUsage);
    EXPECT_THAT(refused.err, AllOf(HasSubstr("sweep.yaml:5: model.init_from is missing, and the file requires it"),
                                   HasSubstr("add model.init_from=…: run id, run folder")));
  }
  EXPECT_FALSE(fs::exists(runs_));
  const ProgramResult done = run({"sweep", "sweep.yaml", "--profile", "small"});
  EXPECT_EQ(done.code, kDone) << done.err;
  // Commands about results train nothing.
  EXPECT_EQ(run({"table", "sweep.yaml"}).code, kDone);
  EXPECT_EQ(run({"report", "sweep.yaml"}).code, kDone);
  const std::string model = (run_folders().front() / "model").string();
  EXPECT_EQ(run({"sweep", "sweep.yaml", "--dry-run", "model.init_from=" + model}).code, kDone);
}

TEST_F(ProgramTest, WeightsOfAnotherTypeOfModelAreRefusedBeforeAnythingIsDone) {
  ASSERT_EQ(run({"train", "run.yaml"}).code, kDone);
  const std::string id = run_folders().front().filename().string();
  fs::copy(run_folders().front() / "model", folder_.path() / "weights");
  write_file(folder_.path() / "gpt2.yaml", window_config("data"));
  for (const std::string& name : {id, std::string("weights")}) {
    const std::string source = "model.init_from=" + name;
    for (const std::vector<std::string>& arguments :
         std::vector<std::vector<std::string>>{{"sweep", "gpt2.yaml", "--dry-run", source},
                                               {"sweep", "gpt2.yaml", source},
                                               {"train", "gpt2.yaml", source}}) {
      const ProgramResult refused = run(arguments);
      EXPECT_EQ(refused.code, kBadData);
      EXPECT_THAT(refused.err, HasSubstr("model.init_from: " + name +
                                         " is a model of type adaptive-span, and this run's "
                                         "is gpt2"));
    }
  }
  EXPECT_EQ(run_folders().size(), 1U) << "nothing was begun";
  EXPECT_EQ(run({"sweep", "run.yaml", "--dry-run", "model.init_from=" + id}).code, kDone);
}

/// A folder of Hugging Face's says of itself only what its config.json says.
TEST_F(ProgramTest, ALlamaOfHuggingFaceBeginsARunThatComputesTheSame) {
  const fs::path llama = folder_.path() / "llama";
  fs::create_directory(llama);
  write_file(llama / "model.safetensors", "");
  Json config{{"model_type", "llama"}, {"num_attention_heads", 2}, {"rms_norm_eps", 1e-5},
              {"hidden_size", 8},      {"intermediate_size", 24},  {"num_hidden_layers", 1}};
  write_file(llama / "config.json", config.dump());
  write_file(folder_.path() / "transformer.yaml",
             "data: {path: data}\ndevice: cpu\ntrain: {steps: 2, batch: 2, block: 4}\n"
             "model: {type: transformer, width: 8, feed_forward: 24, head_width: 4, layers: 1, rotary: halves,\n"
             "        init_from: llama}\n");
  EXPECT_EQ(run({"sweep", "transformer.yaml", "--dry-run"}).code, kDone);
  const ProgramResult none = run({"sweep", "transformer.yaml", "--dry-run", "model.rotary=neighbours"});
  EXPECT_EQ(none.code, kBadData);
  EXPECT_THAT(none.err, HasSubstr("llama/config.json is a Llama's, and this run's model is none"));
  config["rope_theta"] = 500'000;
  write_file(llama / "config.json", config.dump());
  const ProgramResult other = run({"sweep", "transformer.yaml", "--dry-run"});
  EXPECT_EQ(other.code, kBadData);
  EXPECT_THAT(other.err, HasSubstr("'rope_theta' is 500000, and this run's model has 10000.0"));
}

TEST_F(ProgramTest, DataPreparedOtherwiseThanARecipeRequiresAreRefused) {
  write_file(folder_.path() / "train.yaml", run_config("data", "require: [{hebrew_points: space}]\n"));
  EXPECT_EQ(run({"train", "train.yaml"}).code, kDone);  // these data never had the choice
  const fs::path meta = folder_.path() / "data" / "meta.json";
  Json described = read_json(meta);
  described["hebrew_points"] = "remove";
  write_file(meta, described.dump());
  const ProgramResult refused = run({"train", "train.yaml", "seed=2"});
  EXPECT_EQ(refused.code, kBadData);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("data was prepared with hebrew_points \"remove\""),
                                 HasSubstr("train.yaml:5 requires \"space\""),
                                 HasSubstr("prepare it again with --hebrew-points space")));
  described["hebrew_points"] = "space";
  write_file(meta, described.dump());
  EXPECT_EQ(run({"train", "train.yaml", "seed=2"}).code, kDone);
}

TEST_F(ProgramTest, DataPreparedOtherwiseArePreparedAgainWithAnExistingOption) {
  const fs::path meta = folder_.path() / "data" / "meta.json";
  const Json given = read_json(meta);
  const std::string options = run({"prepare-data", "--help"}).out;
  const auto advice = [&](const std::string& key) {
    Json described = given;
    described[key] = "otherwise";
    write_file(meta, described.dump());
    write_file(folder_.path() / "train.yaml", run_config("data", "require: [{" + key + ": so}]\n"));
    const std::string said = run({"train", "train.yaml"}).err;
    return std::string(trim(said.substr(said.rfind("prepare it again"))));
  };
  EXPECT_EQ(advice("cleaning"), "prepare it again with --clean so");
  EXPECT_EQ(advice("language"), "prepare it again with --lang so");
  EXPECT_EQ(advice("documents_are"), "prepare it again with --documents so");
  EXPECT_EQ(advice("keep_text"), "prepare it again so");
  for (const char* key :
       {"books", "column", "glob", "hebrew_points", "limit", "name", "split", "unit", "valid_tokens", "vocabulary"}) {
    const std::string said = advice(key);
    ASSERT_THAT(said, HasSubstr("prepare it again with --")) << key;
    const std::string option = said.substr(said.find("--"), said.rfind(' ') - said.find("--"));
    EXPECT_THAT(options, HasSubstr("  " + option + " ")) << key;
  }
}

TEST_F(ProgramTest, ARunFailsIfAnotherOfItsProcessesHasNoMemoryForTheModel) {
  order("memory-limit-of=1");
  const ProgramResult result = run({"train", "run.yaml", "train.processes=2", "device=cuda"});
  EXPECT_EQ(result.code, kOutOfResources) << result.err;
  const auto made = read_run(run_folders().front());
  EXPECT_EQ(made.status, RunStatus::kFailed);
  EXPECT_EQ(made.history.back().cause, "memory");
  EXPECT_EQ(made.micro_batch, 0) << "fewer rows would not help";
}

}  // namespace
}  // namespace xlm
