// A try that is killed at random moments comes to the verdict of one that was left alone.
#include <random>

#include "tests/campaigns/campaign.h"
#include "tests/experiments/tried_program.h"

namespace xlm {
namespace {

class TryCampaign : public TriedProgram {
 protected:
  static std::vector<std::string> arguments() {
    return {"try",  "change.yaml", "--against", "base.yaml", "--line",     "night", "--min-gain",
            "0.01", "--jobs",      "2",         "--value",   "valid.loss", "--json"};
  }

  /// What a try says, without what it cost: a killed run costs more.
  static Json verdict(const ProgramResult& result) {
    Json outcome = Json::parse(result.out);
    outcome.erase("cost");
    outcome.erase("repeated");
    outcome.erase("equal");
    return outcome;
  }
};

TEST_F(TryCampaign, KillsChangeNoVerdict) {
  std::mt19937 random(11);
  const int wanted = campaign_size(8, 200);
  int killed = 0;
  int rounds = 0;
  for (const std::string gain : {"0.06", "0.01", "-0.02"}) {
    write_tried("change.yaml", "{gain: " + gain + "}");
    fs::remove_all(runs_);
    const ProgramResult alone = run(arguments());
    for (int of_this = 0; of_this < wanted / 3 + 1; ++rounds) {
      fs::remove_all(runs_);
      for (bool done = false; !done;) {
        BackgroundProgram tried = start(arguments());
        ::usleep(static_cast<useconds_t>(1000 * std::uniform_int_distribution<int>(5, 1'500)(random)));
        if (of_this < wanted / 3 + 1 && tried.is_running()) {
          tried.kill(SIGKILL);
          ++of_this;
          ++killed;
        }
        const ProgramResult result = tried.wait();
        done = result.code == alone.code;
        if (!done) continue;
        EXPECT_EQ(verdict(result), verdict(alone)) << "gain " << gain;
      }
      const Json line = Json::parse(run({"runs", "log", "--line", "night", "--json"}).out);
      EXPECT_EQ(line["tries"].size(), 1U);
    }
  }
  report(fmt::format("kills of a try: {} in {} tries", killed, rounds));
}

}  // namespace
}  // namespace xlm
