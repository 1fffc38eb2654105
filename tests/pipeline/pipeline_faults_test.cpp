// The whole program under kills, corruption and bad input, and with too little memory or without a device.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/text.h"
#include "tests/experiments/program.h"
#include "tests/pipeline/pipeline_fixture.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;

/// The phases of a run: by name, the numbers of the calls that change a file. A line of the journal shows its phase,
/// another file's place does.
std::map<std::string, std::vector<int>> phases_of(const std::string& calls, const std::string& journal) {
  const std::vector<std::string> records = split(journal, '\n');
  std::size_t record = 0;
  std::map<std::string, std::vector<int>> phases;
  for (const std::string& call : split(calls, '\n')) {
    const std::vector<std::string> words = split(call, ' ');
    if (words.size() != 3) continue;
    const std::string& path = words[2];
    std::string phase;
    if (path.find("/checkpoints/") != std::string::npos) {
      phase = "saving";
    } else if (path.find("/model/") != std::string::npos || path.find("/.model") != std::string::npos) {
      phase = "finishing";
    } else if (path.find("/results.db") != std::string::npos) {
      phase = "syncing";
    } else if (path.ends_with("/journal.jsonl") && words[1] == "write" && record < records.size()) {
      const std::string type = parse_json(records[record++], "journal").value("type", "");
      if (type == "metric") phase = "stepping";
      if (type == "evaluation") phase = "evaluating";
    }
    if (!phase.empty()) phases[phase].push_back(std::stoi(words[0]));
  }
  return phases;
}

/// The parameter is the kind of products that core uses (XLM_KERNELS).
class KilledRun : public Pipeline, public testing::WithParamInterface<const char*> {};

TEST_P(KilledRun, EndsWithTheSameBitsInEveryPhase) {
  const auto train = [&](const std::string& runs, const std::vector<std::string>& settings) {
    std::vector<std::string> arguments{"/usr/bin/env", std::string("XLM_KERNELS=products=") + GetParam()};
    arguments.insert(arguments.end(), settings.begin(), settings.end());
    for (const char* word : {XLM_BINARY, "train", "run.yaml", "--runs"}) arguments.emplace_back(word);
    arguments.push_back(runs);
    return BackgroundProgram(std::move(arguments), folder_.path()).wait().code;
  };
  // Only the name, because a list of libraries is split at spaces.
  const fs::path library = XLM_FAULT_POINTS;
  const std::string preload = "LD_PRELOAD=" + library.filename().string();
  const std::string place = "LD_LIBRARY_PATH=" + library.parent_path().string();
  const std::string below = "XLM_FAULT_FOLDER=" + folder_.path().string();
  ASSERT_EQ(train("whole", {preload, place, below, "XLM_FAULT_LOG=" + (folder_.path() / "calls").string()}), 0);
  const auto phases = phases_of(read_file(folder_.path() / "calls"), read_file(run_folder("whole") / "journal.jsonl"));
  const char* asked = std::getenv("XLM_KILLS");
  const int kills = asked == nullptr ? 15 : std::atoi(asked);
  std::mt19937 generator(5);
  std::map<std::string, int> killed;
  for (int kill = 0; kill < kills;) {
    for (const char* phase : {"stepping", "saving", "evaluating", "finishing", "syncing"}) {
      ASSERT_TRUE(phases.contains(phase)) << phase;
      const std::vector<int>& calls = phases.at(phase);
      const std::vector<std::string> moments{"kill@", "killed@", "later@"};
      const unsigned kinds = killed.contains(phase) ? 3 : 2;  // the first kill of a phase must not come too late
      const std::string fault = moments[generator() % kinds] + std::to_string(calls[generator() % calls.size()]);
      SCOPED_TRACE(std::string(phase) + " " + fault);
      const std::string runs = "killed" + std::to_string(kill++);
      const int code = train(runs, {preload, place, below, "XLM_FAULT=" + fault});
      // Two milliseconds after one of the last calls there may be nothing left to kill.
      ASSERT_TRUE(code == 128 + SIGKILL || (code == 0 && fault.starts_with("later"))) << code;
      killed[phase] += code == 0 ? 0 : 1;
      ASSERT_EQ(train(runs, {}), 0);
      EXPECT_EQ(model_hash(runs), model_hash("whole"));
      fs::remove_all(folder_.path() / runs);
    }
  }
  std::string counts;
  for (const auto& [phase, count] : killed) counts += " " + std::to_string(count) + " " + phase;
  std::cout << "campaign: bits:" << counts << std::endl;
  for (const auto& [phase, count] : killed) EXPECT_GT(count, 0) << phase;
}

INSTANTIATE_TEST_SUITE_P(Products, KilledRun, testing::Values("own", "libtorch"),
                         [](const auto& tested) { return tested.param; });

TEST_F(Pipeline, CorruptAndMissingInputsHaveTheDocumentedCodes) {
  ASSERT_EQ(xlm({"train", "run.yaml", "train.steps=8"}).code, 0);
  const fs::path model = run_folder("runs") / "model";
  const auto copy_of_model = [&](const std::string& name) {
    fs::copy(model, folder_.path() / name, fs::copy_options::recursive);
    return folder_.path() / name;
  };
  const auto code_of_eval = [&](const std::string& name) { return xlm({"eval", name, "--data", "data"}).code; };

  const fs::path cut = copy_of_model("cut");
  fs::resize_file(cut / "model.safetensors", fs::file_size(cut / "model.safetensors") - 10);
  EXPECT_EQ(code_of_eval("cut"), 3);
  write_file(copy_of_model("garbled") / "vocab.json", "{\"unit\": \"character\", \"symbols\": [1, 2");
  EXPECT_EQ(code_of_eval("garbled"), 3);
  write_file(copy_of_model("other") / "vocab.json", R"({"unit": "character", "symbols": ["z"]})");
  EXPECT_EQ(code_of_eval("other"), 3);
  write_file(copy_of_model("shape") / "config.yaml", "model: {type: adaptive-span, width: 32, heads: 2}\n");
  EXPECT_EQ(code_of_eval("shape"), 3);

  fs::copy(folder_.path() / "data", folder_.path() / "short", fs::copy_options::recursive);
  fs::resize_file(folder_.path() / "short/train.bin", 100);
  EXPECT_EQ(xlm({"train", "run.yaml", "data.path=short", "seed=2"}).code, 3);

  EXPECT_EQ(xlm({"train", "run.yaml", "train.block=100000"}).code, 3);
  EXPECT_EQ(xlm({"train", "run.yaml", "model.heads=3"}).code, 2);
  EXPECT_EQ(xlm({"train", "run.yaml", "device=cuda:99"}).code, 1);
  EXPECT_EQ(xlm({"train", "run.yaml", "optimizer.type=adam", "optimizer.lr=1e30"}).code, 4);
  EXPECT_EQ(xlm({"eval", "no-such-run", "--data", "data"}).code, 3);
  fs::remove(copy_of_model("without-vocabulary") / "vocab.json");
  EXPECT_EQ(code_of_eval("without-vocabulary"), 3) << "the data have other symbols than the model";
  const fs::path not_finite = copy_of_model("not-finite") / "model.safetensors";
  std::string weights = read_file(not_finite);
  weights.replace(weights.size() - 64, 4, "\xff\xff\xff\x7f");  // NaN
  write_file(not_finite, weights);
  EXPECT_THAT(xlm({"eval", "not-finite", "--data", "data"}).err, HasSubstr("does not have the hash it was saved with"));
  const std::string hash = "\"xlm.sha256\"";
  ASSERT_NE(weights.find(hash), std::string::npos);
  weights.replace(weights.find(hash), hash.size(), "\"no.hash...\"");  // as in files of other programs
  write_file(not_finite, weights);
  EXPECT_THAT(xlm({"eval", "not-finite", "--data", "data"}).err, HasSubstr("values that are not finite"));
  EXPECT_THAT(xlm({"eval", "not-finite", "--data", "data", "word"}).err, HasSubstr("'word' is not KEY=VALUE"));
  const ProgramResult unknown = xlm({"evla"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_NE(unknown.err.find("did you mean 'eval'"), std::string::npos) << unknown.err;
}

TEST_F(Pipeline, DataTruncatedDuringARunAreAnErrorAfterWhichItResumes) {
  const auto command = [](const std::string& runs) {
    return std::vector<std::string>{
        "train", "run.yaml", "--runs", runs, "train.steps=1500", "train.checkpoint_every=50", "train.eval_every=0"};
  };
  ASSERT_EQ(xlm(command("whole")).code, 0);
  const fs::path text = folder_.path() / "data/train.bin";
  const std::string bytes = read_file(text);
  ASSERT_GT(bytes.size(), 5 * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
  const auto training = start(command("cut"));
  const auto has_checkpoint = [&] {  // any, because the first one is removed later
    if (!fs::exists(folder_.path() / "cut") || run_folder("cut").empty()) return false;
    std::error_code not_yet;
    const fs::directory_iterator files(run_folder("cut") / "checkpoints", not_yet);
    return std::any_of(begin(files), end(files),
                       [](const auto& file) { return file.path().filename().string().starts_with("step-"); });
  };
  while (training->is_running() && !has_checkpoint()) ::usleep(1000);
  training->kill(SIGSTOP);
  ASSERT_TRUE(training->is_running()) << "it ended before its text was truncated";
  ASSERT_EQ(::truncate(text.c_str(), ::sysconf(_SC_PAGESIZE)), 0) << "like a copy that starts again";
  training->kill(SIGCONT);
  const ProgramResult cut = training->wait();
  EXPECT_EQ(cut.code, 3) << cut.err;
  EXPECT_THAT(cut.err, HasSubstr("error: a file was truncated while it was read (data, weights or a journal)"));
  for (const auto& entry : fs::recursive_directory_iterator(folder_.path() / "cut")) {
    const std::string name = entry.path().filename().string();
    EXPECT_FALSE(name.starts_with(".")) << entry.path() << " was left behind";
  }

  const ProgramResult refused = xlm(command("cut"));
  EXPECT_EQ(refused.code, 3) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("train.bin"));
  write_file(text, bytes);
  const ProgramResult resumed = xlm(command("cut"));
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("resuming from step"));
  EXPECT_EQ(model_hash("cut"), model_hash("whole"));
}

TEST_F(Pipeline, NoMessageIsABacktrace) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"train", "run.yaml", "device=cuda:99"},  // no machine has it
                                             {"train", "absent.yaml"},
                                             {"eval", "data", "--data", "data"},
                                             {"table", "run.yaml"}}) {
    const ProgramResult result = xlm(arguments);
    EXPECT_NE(result.code, 0);
    EXPECT_LE(split(trim(result.err), '\n').size(), 4U) << result.err;
    EXPECT_EQ(result.err.find("frame #"), std::string::npos) << result.err;
  }
}

TEST_F(Pipeline, AHiddenGpuIsNotUsedAndIsNoError) {
  const std::string hidden = fmt::format("CUDA_VISIBLE_DEVICES= '{}' train run.yaml train.steps=1 device=", XLM_BINARY);
  const ProgramResult asked = shell(folder_.path(), hidden + "cuda --runs asked");
  EXPECT_EQ(asked.code, 1) << asked.out;
  EXPECT_THAT(asked.err, HasSubstr("device cuda is not available: CUDA_VISIBLE_DEVICES hides every GPU"));
  const ProgramResult left_open = shell(folder_.path(), hidden + "auto optimizer.warmup_steps=1 --runs open");
  EXPECT_EQ(left_open.code, 0) << left_open.err;
  EXPECT_THAT(read_file(run_folder("open") / "environment.json"), HasSubstr(R"("device": "cpu")"));
}

TEST_F(Pipeline, AModelLargerThanTheMachineIsCountedButNotTrained) {
  write_file(folder_.path() / "sweep.yaml", std::string(kRun) + "sweep: {grid: {seed: [1, 2]}}\n");
  const std::vector<std::string> large{"model.width=65536", "model.feed_forward=262144", "model.layers=24"};
  std::vector<std::string> arguments{"sweep", "sweep.yaml", "--dry-run"};
  arguments.insert(arguments.end(), large.begin(), large.end());
  const ProgramResult counted = xlm(arguments);
  EXPECT_EQ(counted.code, 0) << counted.err;
  EXPECT_THAT(counted.out, HasSubstr("1.24T")) << "24 · 12 · 65536² parameters";
  arguments = {"train", "run.yaml"};
  arguments.insert(arguments.end(), large.begin(), large.end());
  const ProgramResult begun = xlm(arguments);
  EXPECT_EQ(begun.code, 5);
  EXPECT_THAT(begun.err, HasSubstr("GB; this process may use"));
}

TEST_F(Pipeline, ARunWithoutEnoughMemoryRetriesWithFewerRowsOrFails) {
  write_file(folder_.path() / "wide.yaml",
             "data: {path: data}\ndevice: cpu\n"
             "model: {type: adaptive-span, width: 128, heads: 4, feed_forward: 256, layers: 3, span: 128, dropout: 0}\n"
             "train: {steps: 3, batch: 64, block: 256, threads: 1}\n");
  const auto journal = [&](const std::string& runs) {
    std::vector<Json> records;
    for (const std::string& line : split(read_file(run_folder(runs) / "journal.jsonl"), '\n')) {
      if (!line.empty()) records.push_back(parse_json(line, "journal"));
    }
    return records;
  };
  const auto number = [&](const std::string& runs, const char* name) {
    double last = std::nan("");
    for (const Json& record : journal(runs)) {
      last = record.value(name, record.contains("values") ? record["values"].value(name, last) : last);
    }
    return last;
  };
  const auto train_within = [&](double bytes, const std::string& runs) {
    return shell(folder_.path(),
                 fmt::format("ulimit -d {:.0f}; exec '{}' train wide.yaml --runs {}", bytes / 1024, XLM_BINARY, runs));
  };
  ASSERT_EQ(xlm({"train", "wide.yaml", "--runs", "whole"}).code, 0);
  ASSERT_EQ(xlm({"train", "wide.yaml", "--runs", "parts", "train.micro_batch=8"}).code, 0);
  const double whole = number("whole", "peak_memory");
  const double parts = number("parts", "peak_memory");
  ASSERT_LT(parts, 0.6 * whole);

  const ProgramResult less = train_within((whole + parts) / 2, "less");
  ASSERT_EQ(less.code, 0) << less.err;
  EXPECT_THAT(less.err, HasSubstr("and resumes with 32"));
  std::vector<std::string> states;
  for (const Json& record : journal("less")) {
    if (record.at("type") == "state")
      states.push_back(record.at("state").get<std::string>() + record.value("cause", ""));
  }
  EXPECT_THAT(states, testing::IsSupersetOf({"queuedmemory", "done"}));
  EXPECT_NEAR(number("less", "loss"), number("whole", "loss"), 1e-5);

  const ProgramResult none = train_within(110e6, "none");
  EXPECT_EQ(none.code, 5) << none.err;
  EXPECT_THAT(none.err, HasSubstr("out of memory"));
  EXPECT_EQ(journal("none").back().value("state", ""), "failed");
}

}  // namespace
}  // namespace xlm
