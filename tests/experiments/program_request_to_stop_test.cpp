// How a program is asked to stop: the first process, then what it has started; and what is said of how it ended.
#include <gmock/gmock.h>

#include "tests/experiments/program_of_user_fixture.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// A program with a helper that dies of SIGTERM at once. Lines for `what` it does when it is asked itself follow.
constexpr const char* kWithHelper = R"(import os, signal, subprocess, sys, time
helper = subprocess.Popen(["sleep", "1000"])
saved = os.path.join(os.environ["XLM_CHECKPOINTS"], "saved")
def stop(number, frame):
    WHAT
signal.signal(signal.SIGTERM, stop)
print("step 1 loss 2", flush=True)
while True: time.sleep(0.01)
)";

class RequestToStop : public ProgramOfUser {
 protected:
  /// Runs the program until it has begun, and stops it.
  xlm::Run stopped(const std::string& what, const std::string& program = "",
                   const std::string& command = "[python3, helped.py]") {
    std::string text = kWithHelper;
    text.replace(text.find("WHAT"), 4, what);
    write_script("helped.py", text);
    configure(command, "  metrics: [{lines: 'step (?<step>.+) loss (?<loss>.+)'}]\n" + program);
    BackgroundProgram sweep = start({"train", "run.yaml"});
    until_said("step 1");
    sweep.kill(SIGTERM);
    EXPECT_EQ(sweep.wait().code, kStopped);
    return only_run();
  }
};

TEST_F(RequestToStop, AProgramSavesWhileItsHelpersLive) {
  const xlm::Run one = stopped("open(saved, 'w').write(str(helper.poll())); sys.exit(75)");
  EXPECT_EQ(one.status, RunStatus::kPreempted);
  EXPECT_EQ(one.reason, "");
  EXPECT_EQ(read_file(one.folder / "checkpoints" / "saved"), "None") << "the helper had ended";
}

TEST_F(RequestToStop, ItsHelpersAreAskedAfterHalfOfItsGrace) {
  const xlm::Run one = stopped("open(saved, 'w').write(str(helper.wait())); sys.exit(75)", "  grace: 6\n");
  EXPECT_EQ(read_file(one.folder / "checkpoints" / "saved"), "-15");
  EXPECT_EQ(one.reason, "");
}

TEST_F(RequestToStop, OrAllAtOnceIfTheFileSaysSo) {
  const xlm::Run one =
      stopped("open(saved, 'w').write(str(helper.wait())); sys.exit(75)", "  grace: 2000\n  stop: all\n");
  EXPECT_EQ(read_file(one.folder / "checkpoints" / "saved"), "-15");
}

TEST_F(RequestToStop, AShellThatDiesOfItLeavesTheProgramTheWholeGrace) {
  const xlm::Run one = stopped("time.sleep(7); open(saved, 'w').write('all'); sys.exit(75)", "",
                               "[sh, -c, 'python3 helped.py; echo never']");
  EXPECT_EQ(read_file(one.folder / "checkpoints" / "saved"), "all");
}

TEST_F(RequestToStop, NothingIsWaitedForWhereTheProgramAloneDiesOfIt) {
  configure("[sleep, '100000']", "  grace: 80000\n");
  BackgroundProgram sweep = start({"train", "run.yaml"});
  until([&] { return fs::exists(runs_) && !run_folders().empty() && fs::exists(run_folders()[0] / "output.txt"); });
  sweep.kill(SIGTERM);
  EXPECT_EQ(sweep.wait().code, kStopped) << "and not after its grace";
}

TEST_F(RequestToStop, AnEndByAnErrorIsSaid) {
  const xlm::Run one = stopped("raise RuntimeError('a helper has exited')", "  grace: 30\n");
  EXPECT_EQ(one.status, RunStatus::kPreempted);
  EXPECT_THAT(one.reason, AllOf(HasSubstr("ended by an error: exit code 1"), HasSubstr("before its first checkpoint")));
  EXPECT_THAT(read_file(one.folder / "log.txt"), HasSubstr("a helper has exited"));
  EXPECT_THAT(run({"runs", "ls"}).out, HasSubstr("preempted, warning"));
}

TEST_F(RequestToStop, ARunThatNeverSavesSaysSo) {
  EXPECT_THAT(stopped("sys.exit(0)").reason, HasSubstr("stopped before its first checkpoint"));
}

TEST_F(RequestToStop, OneThatIsKilledAfterItsGraceSaysSo) {
  const xlm::Run one = stopped("time.sleep(1000)", "  grace: 0.3\n");
  EXPECT_THAT(one.reason, HasSubstr("did not end within 0.3 s"));
}

}  // namespace
}  // namespace xlm
