// `xlm runs watch --serve`, as a user runs it.
#include <csignal>

#include <chrono>
#include <functional>
#include <thread>

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/text.h"
#include "tests/cmd/results_commands_fixture.h"
#include "tests/results/live/http_client.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A program that serves a page, in the background.
class ServingProgram {
 public:
  ServingProgram(const fs::path& folder, const std::string& options)
      : told_(folder / "told.json"),
        program_({"/bin/sh", "-c",
                  fmt::format("exec '{}' runs watch --serve --json {} >'{}'", XLM_BINARY, options, told_.string())},
                 folder) {
    wait_until([&] { return fs::exists(told_) && read_file(told_).ends_with("\n"); });
    if (!fs::exists(told_) || read_file(told_).empty()) return;
    told = Json::parse(read_file(told_));
    port = told["port"];
    const std::string address = told["address"];
    path = address.substr(address.find('/', std::string("http://").size()));
  }

  /// The answer to a question of its page.
  Json ask(const std::string& question) const {
    const HttpAnswer answer = http_get(port, path + question);
    EXPECT_EQ(answer.status, 200) << question << program_.standard_error();
    return answer.status == 200 ? Json::parse(answer.body) : Json();
  }

  ProgramResult stop(int signal) {
    program_.kill(signal);
    return program_.wait();
  }

  static void wait_until(const std::function<bool()>& condition) {
    for (int i = 0; i < 600 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }

  Json told;
  int port = 0;
  std::string path;

 private:
  fs::path told_;
  BackgroundProgram program_;
};

/// Ctrl-C while others hold connections on which they say nothing.
TEST_F(ResultsCommands, AServedPageEndsAtOnceThoughStrangersHoldConnections) {
  make_sweep();
  ServingProgram served(temporary_.path(), "");
  ASSERT_GT(served.port, 0);
  const Strangers strangers(served.port, 50, "GET / HT");
  EXPECT_EQ(http_get(served.port, served.path).status, 200);
  const auto before = std::chrono::steady_clock::now();
  served.stop(SIGINT);
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count(), 2);
}

TEST_F(ResultsCommands, ServesAPageThatFollowsRuns) {
  make_sweep();
  ServingProgram served(temporary_.path(), "--where model.span=64");
  ASSERT_GT(served.port, 0);
  EXPECT_THAT(served.told["address"].get<std::string>(), StartsWith(fmt::format("http://127.0.0.1:{}/", served.port)));
  EXPECT_EQ(served.path.size(), 64U + 2U) << "the token between two slashes";
  const HttpAnswer page = http_get(served.port, served.path);
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body, HasSubstr("/runs</h1>"));
  EXPECT_THAT(page.body, HasSubstr("\"where\":\"model.span=64\""));
  EXPECT_EQ(http_get(served.port, "/").status, 404) << "without the token";
  EXPECT_EQ(served.ask("runs.json?where=model.span%3D64")["found"], 4);

  const auto version = [&] { return served.ask("state.json")["version"].get<int>(); };
  const int before = version();
  maker_.make({.id = "come-later", .state = "running", .time = 90000});
  ServingProgram::wait_until([&] { return version() > before; });
  EXPECT_EQ(served.ask("runs.json")["all"], 9);
  EXPECT_EQ(served.ask("curves.json?run=come-later&quantity=loss")["curves"][0]["x"], Json::array({50.0}));
  const int with_run = version();
  maker_.journal({.id = "come-later"}).append("metric", {{"step", 70}, {"values", {{"loss", 0.5}}}});
  ServingProgram::wait_until([&] { return version() > with_run; });
  EXPECT_EQ(served.ask("curves.json?run=come-later&quantity=loss")["curves"][0]["x"], Json::array({50.0, 70.0}));
  EXPECT_EQ(served.stop(SIGTERM).code, kStopped);
  EXPECT_EQ(answer_to(served.port, "GET / HTTP/1.1\r\n\r\n"), "") << "the port is free";
}

TEST_F(ResultsCommands, ServesAFolderThatHasNoRunsYet) {
  ServingProgram served(temporary_.path(), "");
  ASSERT_GT(served.port, 0);
  EXPECT_EQ(served.ask("runs.json")["all"], 0);
  EXPECT_EQ(served.ask("runs.json?where=status%3Drunning")["found"], 0);
  maker_.make({});
  ServingProgram::wait_until([&] { return served.ask("runs.json")["all"] == 1; });
  EXPECT_EQ(served.ask("runs.json")["rows"][0]["id"], MadeRun().id);
  EXPECT_EQ(served.stop(SIGTERM).code, kStopped);
}

TEST_F(ResultsCommands, APageOfASweepBeginsWithItsExperiment) {
  make_sweep();
  write("sweep.yaml", "experiment: spans\nmodel: {type: adaptive-span}\nsweep: {grid: {seed: [1, 2]}}\n");
  ServingProgram served(temporary_.path(), "sweep.yaml");
  ASSERT_GT(served.port, 0);
  EXPECT_THAT(http_get(served.port, served.path).body, HasSubstr("\"where\":\"experiment=spans\""));
  EXPECT_EQ(served.stop(SIGTERM).code, kStopped);
}

TEST_F(ResultsCommands, ServingSaysWhatCannotBe) {
  make_sweep();
  EXPECT_THAT(xlm("runs watch --serve --once").err, HasSubstr("--once shows the state and exits"));
  EXPECT_THAT(xlm("runs watch --port 8080").err, HasSubstr("add --serve"));
  EXPECT_EQ(xlm("runs watch --serve --port 70000").code, kUsage);
  EXPECT_EQ(xlm("runs watch --serve --where nonsense").code, kUsage);
  EXPECT_EQ(xlm("runs watch --serve --runs nowhere").code, kBadData);
  ServingProgram served(temporary_.path(), "");
  ASSERT_GT(served.port, 0);
  const ProgramResult second = xlm(fmt::format("runs watch --serve --port {}", served.port));
  EXPECT_EQ(second.code, kUsage);
  EXPECT_THAT(second.err, HasSubstr(fmt::format("cannot listen on port {}", served.port)));
  EXPECT_EQ(served.stop(SIGTERM).code, kStopped);
}

TEST_F(ResultsCommands, HelpSaysHowToReachThePageFromElsewhere) {
  EXPECT_THAT(xlm("runs watch --help").out, HasSubstr("ssh -N -L 8080:127.0.0.1:8080 HOST"));
}

}  // namespace
}  // namespace xlm
