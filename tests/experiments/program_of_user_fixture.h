// A program of a user's: a training loop in Python, in the folder `code` of the test.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/json.h"
#include "tests/experiments/program_fixture.h"

namespace xlm {

/// A training loop: it reports by lines of JSON, saves every fifth step, resumes, and waits at step 8 as long as the
/// file `hold` is there.
inline constexpr const char* kTrainingScript = R"(import json, os, signal, sys, time
options = json.load(open(os.environ["XLM_CONFIG"]))["options"]
saved = os.path.join(os.environ["XLM_CHECKPOINTS"], "last.json")
state = {"step": 0, "weight": 4.0}
if os.environ["XLM_RESUME"] == "1":
    state = json.load(open(saved))
print("begins behind", state["step"])
def log(**values):
    with open(os.environ["XLM_METRICS"], "a") as file:
        file.write(json.dumps(values) + "\n")
def save():
    with open(saved + ".new", "w") as file:
        json.dump(state, file)
    os.replace(saved + ".new", saved)
def stop(number, frame):
    save()
    sys.exit(3)
signal.signal(signal.SIGTERM, signal.SIG_IGN if options.get("stubborn") else stop)
while state["step"] < 20:
    state["step"] += 1
    state["weight"] *= 1 - options["lr"]
    log(step=state["step"], loss=state["weight"])
    if state["step"] % 5 == 0:
        log(step=state["step"], split="valid", loss=state["weight"] + 1)
        save()
    while state["step"] == 8 and os.path.exists(options["hold"]):
        time.sleep(0.01)
log(split="test", step=20, loss=state["weight"] + 2, final=True)
)";

class ProgramOfUser : public ProgramTest {
 protected:
  ProgramOfUser() {
    create_folders(folder_.path() / "code");
    write_script("train.py", kTrainingScript);
  }

  void write_script(const std::string& name, const std::string& text) {
    write_file(folder_.path() / "code" / name, text);
  }

  /// run.yaml of a program: `program` and `rest` are added to it.
  void configure(const std::string& command, const std::string& program = "", const std::string& rest = "") {
    write_file(config(),
               fmt::format("program:\n  command: {}\n  folder: code\n  code: [\"*\"]\n{}{}", command, program, rest));
  }
  void configure_training(const std::string& program = "", const std::string& rest = "", const std::string& more = "") {
    configure("[python3, train.py]", program,
              fmt::format("options: {{lr: 0.1, hold: {}{}}}\n{}", hold().string(), more, rest));
  }

  xlm::Run only_run() const {
    const std::vector<fs::path> folders = run_folders();
    EXPECT_EQ(folders.size(), 1U);
    return read_live_run(folders.at(0));
  }

  /// Waits until so many programs are at step 8.
  void until_held(std::size_t count = 1) {
    until([&] {
      if (!fs::exists(runs_)) return false;
      std::size_t held = 0;
      for (const fs::path& folder : run_folders()) {
        const fs::path metrics = folder / "metrics.jsonl";
        held += fs::exists(metrics) && read_file(metrics).find("\"step\": 8") != std::string::npos ? 1 : 0;
      }
      return held == count;
    });
  }

  /// Waits until so many runs have an evaluation.
  void until_evaluated(std::size_t count) {
    until([&] {
      if (!fs::exists(runs_)) return false;
      std::size_t evaluated = 0;
      for (const fs::path& folder : run_folders()) evaluated += read_live_run(folder).evaluations.empty() ? 0 : 1;
      return evaluated == count;
    });
  }

  /// Processes of the training that still run in the test's folder. The brackets keep the search from finding itself.
  std::string left_processes() const {
    return shell(folder_.path(),
                 "grep -l -a -s train[.]py /proc/[0-9]*/cmdline | while read f; do tr '\\0' ' ' < $f; "
                 "readlink $(dirname $f)/cwd; done | grep " +
                     folder_.path().string())
        .out;
  }

  static void expect_whole(const xlm::Run& run, double lr = 0.1) {
    EXPECT_EQ(run.status, RunStatus::kDone) << run.reason;
    ASSERT_TRUE(run.metrics.contains("loss"));
    ASSERT_EQ(run.metrics.at("loss").size(), 20U) << run.id;
    double weight = 4;
    for (int step = 1; step <= 20; ++step) EXPECT_NEAR(run.metrics.at("loss").at(step), weight *= 1 - lr, 1e-12);
    std::map<std::string, double> finals;
    for (const RunEvaluation& evaluation : run.evaluations) {
      if (evaluation.main) finals[evaluation.split] = evaluation.values.at("loss");
    }
    EXPECT_NEAR(finals["valid"], weight + 1, 1e-12);
    EXPECT_NEAR(finals["test"], weight + 2, 1e-12);
    EXPECT_GT(run.costs.at("wall_seconds"), 0);
  }

  static std::string output(const xlm::Run& run) { return read_file(run.folder / "output.txt"); }

  /// Waits until the program of the only run has said this.
  void until_said(const std::string& text) const {
    until([&] {
      return fs::exists(runs_) && !run_folders().empty() && fs::exists(run_folders()[0] / "output.txt") &&
             output(only_run()).find(text) != std::string::npos;
    });
  }
};

}  // namespace xlm
