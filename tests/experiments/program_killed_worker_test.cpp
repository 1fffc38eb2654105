// A worker that is killed after its program has said its last: no number is lost, and none becomes final by that.

#include <fmt/format.h>

#include "tests/experiments/program_of_user_fixture.h"

namespace xlm {
namespace {

/// Says a validation every fifth step, with a checkpoint right behind it, and waits as long as `hold` is there.
constexpr const char* kPrinting = R"(import json, os, sys, time
options = json.load(open(os.environ["XLM_CONFIG"]))["options"]
saved = os.path.join(os.environ["XLM_CHECKPOINTS"], "last.json")
step = json.load(open(saved)) if os.path.exists(saved) else 0
while step < 20:
    step += 1
    print("step", step, "loss", 10 - step / 4)
    if step % 5 == 0:
        print("valid", 5 - step / 10)
        json.dump(step, open(saved + ".new", "w"))
        os.replace(saved + ".new", saved)
    while step == options["at"] and os.path.exists(options["hold"]):
        time.sleep(0.01)
open(saved + ".end", "w").close()
while os.path.exists(options["hold"] + ".end"):
    time.sleep(0.01)
)";

class ProgramKilledWorker : public ProgramOfUser {
 protected:
  ProgramKilledWorker() {
    write_script("train.py", kPrinting);
    configure("[python3, train.py]",
              "  metrics: [{lines: 'step (?<step>\\d+) loss (?<loss>\\S+)'}, {lines: 'valid (?<valid.loss>\\S+)'}]\n",
              fmt::format("options: {{hold: {}, at: 8}}\n", hold().string()));
  }

  void is_killed_and_goes_on(bool tears_position) {
    write_file(hold(), "");
    write_file(hold().string() + ".end", "");
    BackgroundProgram worker = start({"train", "run.yaml"});
    const auto has_said = [&](const std::string& text) {
      if (!fs::exists(runs_) || run_folders().empty()) return false;
      const fs::path file = run_folders().at(0) / "output.txt";
      return fs::exists(file) && read_file(file).find(text) != std::string::npos;
    };
    until([&] { return has_said("step 8"); });
    worker.kill(SIGSTOP);  // it reads no more
    fs::remove(hold());
    until([&] { return fs::exists(run_folders().at(0) / "checkpoints/last.json.end"); });
    worker.kill(SIGKILL);
    worker.wait();
    fs::remove(hold().string() + ".end");
    until([&] { return has_said("step 20"); });
    if (tears_position) write_file(run_folders().at(0) / "metrics.position.json", "{\"reade");
    const ProgramResult again = run({"train", "run.yaml"});
    EXPECT_EQ(again.code, kDone) << again.err;
    const xlm::Run run = only_run();
    EXPECT_EQ(run.metrics.at("loss").size(), 20U);
    std::map<std::int64_t, double> valid;
    for (const RunEvaluation& evaluation : run.evaluations) {
      if (evaluation.split != "valid") continue;
      valid[evaluation.step] = evaluation.values.at("loss");
      EXPECT_EQ(evaluation.main, evaluation.step == 20);
    }
    EXPECT_EQ(valid, (std::map<std::int64_t, double>{{5, 4.5}, {10, 4}, {15, 3.5}, {20, 3}}));
  }
};

TEST_F(ProgramKilledWorker, LosesNoNumberThatACheckpointIsBehind) { is_killed_and_goes_on(false); }

TEST_F(ProgramKilledWorker, LosesNoneWithATornNoteOfWhereItWas) { is_killed_and_goes_on(true); }

}  // namespace
}  // namespace xlm
