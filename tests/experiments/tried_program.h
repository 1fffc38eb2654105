// A program whose loss is known: a gain that its file says, and noise that its seed says.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/json.h"
#include "tests/experiments/program_fixture.h"

namespace xlm {

inline constexpr const char* kTriedScript = R"(import json, os, random, sys
seed = os.environ["XLM_SEED"]
options = json.load(open(os.environ["XLM_CONFIG"]))["options"]
if options.get("fails_with") == int(seed):
    sys.exit("no such layer")
common = random.Random(seed).gauss(0, 0.02)
own = random.Random(seed + str(options["gain"])).gauss(0, 0.01)
with open(os.environ["XLM_METRICS"], "a") as file:
    file.write(json.dumps({"split": "valid", "step": 1, "loss": 3 - options["gain"] - BONUS + common + own, "final": True}) + "\n")
)";

class TriedProgram : public ProgramTest {
 protected:
  TriedProgram() {
    create_folders(folder_.path() / "code");
    write_code("0");
    write_tried("base.yaml", "{gain: 0}");
  }

  /// The program with what its code alone gains.
  void write_code(const std::string& bonus) {
    std::string script = kTriedScript;
    script.replace(script.find("BONUS"), 5, bonus);
    write_file(folder_.path() / "code" / "train.py", script);
  }

  void write_tried(const std::string& file, const std::string& options, const std::string& rest = "") {
    write_file(folder_.path() / file, fmt::format("experiment: tries\noptions: {}\nprogram:\n  folder: code\n  code: "
                                                  "['*.py']\n  command: [python3, train.py]\n{}",
                                                  options, rest));
  }

  ProgramResult try_change(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(),
                     {"try", "--value", "valid.loss", "--min-gain", "0.01", "--jobs", "2", "--json"});
    return run(arguments);
  }

  std::size_t runs_of(const std::string& gain) const {
    std::size_t count = 0;
    for (const fs::path& folder : run_folders()) count += option_of(folder) == gain ? 1 : 0;
    return count;
  }

  static std::string option_of(const fs::path& folder) {
    const xlm::Run run = read_live_run(folder);
    const Json* gain = run.param("options.gain");
    return gain == nullptr ? "" : gain->dump();
  }
};

}  // namespace xlm
