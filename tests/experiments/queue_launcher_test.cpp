// Sweeps by the commands of a site file: the files that --print-site prints, with stand-ins for OpenPBS and LSF, a real
// Grid Engine, and workers started over ssh to this machine.
#include <csignal>

#include <gmock/gmock.h>

#include <fmt/format.h>
#include <boost/algorithm/string/replace.hpp>

#include "base/text.h"
#include "tests/experiments/program_fixture.h"
#include "tests/needs.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kQueuedSweep = "resources: {cpus: 1}\nsweep: {grid: {seed: [1, 2, 3, 4, 5, 6]}}\n";

class ProgramInQueue : public ProgramTest {
 protected:
  fs::path site() const { return folder_.path() / "site.yaml"; }

  /// Writes the site file that comes with the program, after what jobs need of this test's variables.
  void write_site(const std::string& queue, const std::function<std::string(std::string)>& change = {}) {
    const ProgramResult printed = run({"sweep", "--print-site", queue});
    ASSERT_EQ(printed.code, kDone) << printed.err;
    write_file(site(), fmt::format("setup: [\"export XLM_FAKE_HOLD='{}' XLM_FAKE_CORE= XDG_CONFIG_HOME='{}'\"]\n",
                                   hold().string(), settings_of_tests()) +
                           (change ? change(printed.out) : printed.out));
  }

  ProgramResult submit(std::vector<std::string> more = {"--jobs", "2"}) {
    std::vector<std::string> words{"sweep", "sweep.yaml", "--launcher", "command", "--site", site().string()};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }

  std::string watched() { return run({"runs", "watch", "sweep.yaml", "--once"}).out; }

  /// Two workers do six runs, and who asks again gets no more of them.
  void sweeps_to_its_end() {
    write_sweep(kQueuedSweep);
    write_file(hold(), "");
    const ProgramResult dry = submit({"--dry-run"});
    EXPECT_EQ(dry.code, kDone) << dry.err;
    EXPECT_THAT(dry.out, AllOf(HasSubstr("\nsubmitted by: "), HasSubstr("nothing was written or submitted")));
    EXPECT_FALSE(fs::exists(runs_));
    const ProgramResult first = submit();
    ASSERT_EQ(first.code, kDone) << first.err;
    EXPECT_THAT(first.out, AllOf(HasSubstr("6 of 6 runs to do\n"), HasSubstr("submitted job ")));
    until([&] { return count_running() == 2; });
    EXPECT_THAT(watched(), HasSubstr("2 workers run on "));
    const ProgramResult second = submit();
    EXPECT_EQ(second.code, kDone) << second.err;
    EXPECT_THAT(second.out, HasSubstr("2 workers of this sweep wait or run already; nothing was submitted"));
    fs::remove(hold());
    const ProgramResult all = submit({"--jobs", "2", "--wait"});
    EXPECT_EQ(all.code, kDone) << all.err << all.out;
    EXPECT_THAT(all.out, HasSubstr("6 of 6 runs done"));
    expect_all_done(6);
    for (const fs::path& folder : run_folders()) EXPECT_EQ(steps(folder).size(), 10U) << folder;
    EXPECT_THAT(submit().out, AllOf(HasSubstr("6 of 6 runs done"), Not(HasSubstr("submitted job"))));
  }

  /// Of two workers one runs and one waits. A stop lets the first save, and cancels the second.
  void stops_what_waits() {
    write_sweep(kQueuedSweep);
    write_file(hold(), "");
    ASSERT_EQ(submit().code, kDone);
    until([&] { return count_running() == 1; });
    until([&] { return watched().find("1 worker runs on ") != std::string::npos; });
    EXPECT_THAT(watched(), HasSubstr(", 1 waits: "));
    const ProgramResult stopped = run({"runs", "stop", "--where", "status=queued,running"});
    EXPECT_THAT(stopped.out, AllOf(HasSubstr("asked to save and stop"), HasSubstr("will not start"))) << stopped.err;
    until([&] { return watched().find("worker") == std::string::npos; });
    EXPECT_EQ(count_running(), 0U);
    fs::remove(hold());
  }
};

/// Stand-ins for the commands of a queue, before all others.
class ProgramInStandIn : public ProgramInQueue {
 protected:
  void SetUp() override {
    fs::create_directories(folder_.path() / "bin");
    fs::create_directories(queue());
    for (const char* name : {"qsub", "qstat", "qdel", "bsub", "bjobs", "bkill"}) {
      fs::create_symlink(fs::path(XLM_SOURCE_DIR) / "tests/experiments/queue_stand_in.sh",
                         folder_.path() / "bin" / name);
    }
    path_ = std::getenv("PATH");
    ::setenv("PATH", ((folder_.path() / "bin").string() + ":" + path_).c_str(), 1);
    ::setenv("QUEUE_STAND_IN", queue().c_str(), 1);
  }
  void TearDown() override {
    fs::remove(hold());
    ::setenv("PATH", path_.c_str(), 1);
  }

  fs::path queue() const { return folder_.path() / "queue"; }
  std::string words_of(const std::string& command) const {
    return join(split(read_file(queue() / (command + ".words")), '\n'), " ");
  }

  std::string path_;
};

TEST_F(ProgramInStandIn, OpenPbsDoesEveryRunOnce) {
  write_site("pbs");
  sweeps_to_its_end();
  const std::string logs = (runs_ / ".workers").string();
  EXPECT_THAT(words_of("qsub"), AllOf(HasSubstr("-S /bin/bash -j oe -o " + logs), HasSubstr("-l ncpus=1 "),
                                      HasSubstr("-l walltime=43200 -J 0-1 "), Not(HasSubstr("ngpus"))));
}

TEST_F(ProgramInStandIn, LsfDoesEveryRunOnceBelowABanner) {
  write_site("lsf");
  sweeps_to_its_end();
  EXPECT_THAT(words_of("bsub"),
              AllOf(HasSubstr("[1-2] -n 1 -R span[hosts=1] -W 720 -Q 85 -oo "), Not(HasSubstr("mem"))));
}

TEST_F(ProgramInStandIn, WorkersThatWaitAreCancelledOneByOne) {
  for (const auto& [queue_name, cancel] : {std::pair("pbs", "qdel"), std::pair("lsf", "bkill")}) {
    write_site(queue_name);
    write_sweep(kQueuedSweep);
    write_file(hold(), "");
    EXPECT_THAT(submit({"--jobs", "1"}).out, HasSubstr("submitted job "));
    until([&] { return count_running() == 1; });
    write_file(queue() / "full", "");
    const ProgramResult more = submit({"--jobs", "3"});
    EXPECT_THAT(more.out, AllOf(HasSubstr("1 worker of this sweep waits or runs already"), HasSubstr(": 2 workers\n")));
    EXPECT_THAT(watched(), HasSubstr("1 worker runs on node7, 2 wait: "));
    run({"runs", "stop", "--where", "status=queued,running"});
    until([&] { return watched().find("worker") == std::string::npos; });
    EXPECT_NE(words_of(cancel), "");
    fs::remove(hold());
    fs::remove(queue() / "full");
    fs::remove_all(runs_);
  }
}

TEST_F(ProgramInStandIn, NothingIsSubmittedWhileTheQueueDoesNotAnswer) {
  write_site("pbs");
  write_sweep(kQueuedSweep);
  write_file(hold(), "");
  ASSERT_EQ(submit().code, kDone);
  const std::string jobs = read_file(queue() / "jobs");
  write_file(queue() / "down", "");
  const ProgramResult unknown = submit({"--jobs", "4"});
  EXPECT_EQ(unknown.code, kFailed);
  EXPECT_THAT(unknown.err, AllOf(HasSubstr("the queue does not answer: qstat -t"), HasSubstr("cannot connect")));
  EXPECT_EQ(read_file(queue() / "jobs"), jobs);
  EXPECT_THAT(run({"runs", "watch", "sweep.yaml", "--once"}).err, HasSubstr("the queue does not answer"));
  fs::remove(queue() / "down");
  fs::remove(hold());
  EXPECT_EQ(submit({"--jobs", "2", "--wait"}).code, kDone);
}

TEST_F(ProgramInStandIn, WhatOthersNoteOfJobsIsNotAskedFor) {
  write_site("pbs");
  write_sweep(kQueuedSweep);
  write_file(hold(), "");
  ASSERT_EQ(submit({"--jobs", "1"}).code, kDone);
  const std::string list = fs::directory_iterator(runs_ / ".workers")->path();
  std::string noted = read_file(fs::path(list) / "jobs.json");
  EXPECT_THAT(watched(), HasSubstr("1 worker runs"));
  noted.replace(noted.find(site().string()), site().string().size(), "/tmp/another.yaml");
  write_file(fs::path(list) / "jobs.json", noted);
  EXPECT_THAT(watched(), Not(HasSubstr("1 worker runs")));
  write_file(fs::path(list) / "jobs.json", "[7]");
  const ProgramResult damaged = submit();
  EXPECT_EQ(damaged.code, kBadData);
  EXPECT_THAT(damaged.err, HasSubstr("jobs.json is no list of jobs"));
  EXPECT_EQ(run({"runs", "stop", "--where", "status=queued,running"}).code, kDone);
  fs::remove(hold());
}

TEST_F(ProgramInStandIn, ASetupThatFailsEndsAJobBeforeARunBegins) {
  write_site("pbs", [](const std::string& text) { return text; });
  std::string text = read_file(site());
  text.replace(text.find('\n'), 1, "\n").insert(text.find("\"]"), "\", \"module load nothing");
  write_file(site(), text);
  write_sweep(kQueuedSweep);
  ASSERT_EQ(submit({"--jobs", "1"}).code, kDone);
  const fs::path log = queue() / "1000.-.log";
  until([&] { return fs::exists(log) && read_file(log).find("setup of the site file failed") != std::string::npos; });
  EXPECT_THAT(read_file(log), HasSubstr("with code 127: module load nothing"));
  EXPECT_EQ(count_running(), 0U);
}

TEST_F(ProgramInStandIn, WhatASiteFileLacksIsSaid) {
  write_sweep(kQueuedSweep);
  EXPECT_THAT(run({"sweep", "--print-site", "pbd"}).err, HasSubstr("there are slurm, pbs, lsf, sge, ssh and apart"));
  EXPECT_THAT(run({"sweep", "sweep.yaml", "--launcher", "command"}).err, HasSubstr("xlm sweep --print-site pbs"));
  for (const auto& [text, complaint] : std::map<std::string, std::string>{
           {"scheduler: {submit: [qsub, '{cpu}']}\n", "there is no {cpu} here (did you mean 'cpus'?)"},
           {"scheduler: {submit: [qsub]}\n", "scheduler.job is missing"},
           {"partition: main\nscheduler: {submit: [qsub], job: '(1)', status: [qstat], line: "
            "'(?P<job>1)(?P<state>2)'}\n",
            "partition is for Slurm"},
           {"scheduler: {submit: [qsub], job: '1', status: [qstat], line: '(?P<job>1)(?P<state>2)'}\n",
            "needs a group in brackets"},
           {"scheduler: {submit: [qsub], job: '(1)', status: [qstat], line: '(?P<job>1)'}\n", "(?P<state>"},
           {"scheduler: {submit: [qsub, '{memory}'], job: '(1)', status: [qstat], line: '(?P<job>1)(?P<state>2)'}\n",
            "needs {memory} in '{memory}', which has no value"}}) {
    write_file(site(), text);
    const ProgramResult result = submit();
    EXPECT_EQ(result.code, kUsage) << text;
    EXPECT_THAT(result.err, HasSubstr(complaint));
  }
  EXPECT_FALSE(fs::exists(runs_));
}

TEST_F(ProgramInStandIn, TheSitesLastCommandRunsOnceForEachEndOfASweep) {
  write_sweep(kQueuedSweep);
  write_file(site(), "finally: [sh, -c, 'echo \"$1 $2\" >>ended', sh, '{experiment}', '{code}']\n");
  const auto ended = [&] { return shell(folder_.path(), "cat ended").out; };
  const std::vector<std::string> sweep{"sweep", "sweep.yaml", "--site", site().string()};
  order("seed=3:fail-at=5");
  EXPECT_EQ(run(sweep).code, kFailed);
  EXPECT_EQ(ended(), "sweep 1\n");
  order("");
  EXPECT_EQ(run(sweep).code, kDone);
  EXPECT_EQ(ended(), "sweep 1\nsweep 0\n");
  EXPECT_EQ(run(sweep).code, kDone);
  EXPECT_EQ(ended(), "sweep 1\nsweep 0\n") << "it had ended before";
  write_site("pbs", [](const std::string& text) { return text + "finally: ['false']\n"; });
  write_sweep("resources: {cpus: 1}\nsweep: {grid: {seed: [7, 8]}}\n");
  EXPECT_EQ(submit().code, kDone);
  const ProgramResult all = submit({"--wait"});
  EXPECT_EQ(all.code, kDone) << "of the sweep";
  EXPECT_THAT(all.err, HasSubstr("finally, of the site file, failed: it exited with code 1"));
}

/// A real Grid Engine of two slots, or of one.
class ProgramInGridEngine : public ProgramInQueue {
 protected:
  void begin(int slots) {
    if (::geteuid() != 0 || shell(folder_.path(), "command -v sge_qmaster sge_execd qsub").code != 0) {
      GTEST_SKIP() << needs::kGridEngine;
    }
    const ProgramResult started = shell(folder_.path(), fmt::format("{} start '{}' {}", starter(), cluster(), slots));
    started_ = true;
    ASSERT_EQ(started.code, 0) << started.out << started.err;
    for (const std::string& line : split(started.out, '\n')) {
      const std::size_t equals = line.find('=');
      if (equals != std::string::npos) ::setenv(line.substr(0, equals).c_str(), line.substr(equals + 1).c_str(), 1);
    }
    write_site("sge");
  }
  void TearDown() override {
    fs::remove(hold());
    if (started_) shell(folder_.path(), fmt::format("qdel -u '*'; sleep 1; {} stop '{}'", starter(), cluster()));
  }

  static std::string starter() { return XLM_SOURCE_DIR "/tests/experiments/local_grid_engine.sh"; }
  std::string cluster() const { return (folder_.path() / "cluster").string(); }
  std::string qstat() { return shell(folder_.path(), "qstat -g d").out; }

  bool started_ = false;
};

TEST_F(ProgramInGridEngine, DoesEveryRunOnce) {
  begin(2);
  if (!IsSkipped()) sweeps_to_its_end();
}

TEST_F(ProgramInGridEngine, StopsWhatWaits) {
  begin(1);
  if (IsSkipped()) return;
  stops_what_waits();
  EXPECT_EQ(qstat(), "");
}

TEST_F(ProgramInGridEngine, AWorkerWhoseTimeIsOverSavesAndComesBack) {
  begin(1);
  if (IsSkipped()) return;
  write_sweep("resources: {cpus: 1, time: 8s}\nsweep: {grid: {seed: [1, 2]}}\n");
  write_file(hold(), "");
  ASSERT_EQ(submit({"--jobs", "1"}).code, kDone);  // it is told to save after 4 s
  until([&] { return count_running() == 1; });
  until([&] { return count_running() == 0; });
  fs::remove(hold());
  until([&] { return qstat().empty(); });
  expect_all_done(2);
  EXPECT_THAT(submit().out, HasSubstr("2 of 2 runs done"));
}

/// An ssh server of this test on this machine, with its own key, under two names.
class ProgramOverSsh : public ProgramInQueue {
 protected:
  void SetUp() override {
    if (shell(folder_.path(), "command -v ssh ssh-keygen && test -x /usr/sbin/sshd").code != 0) {
      GTEST_SKIP() << needs::kSshServer;
    }
    const std::string at = folder_.path().string();
    const int port = 20000 + static_cast<int>(::getpid() % 20000);
    ASSERT_EQ(shell(folder_.path(),
                    "mkdir -p /run/sshd 2>/dev/null; ssh-keygen -q -t ed25519 -N '' -f key && "
                    "ssh-keygen -q -t ed25519 -N '' -f host && cp key.pub keys")
                  .code,
              0);
    write_file(folder_.path() / "sshd.conf",
               fmt::format("Port {0}\nListenAddress 127.0.0.1\nHostKey {1}/host\nAuthorizedKeysFile {1}/keys\n"
                           "StrictModes no\nUsePAM no\nPermitRootLogin yes\nPidFile {1}/sshd.pid\n",
                           port, at));
    write_file(folder_.path() / "ssh.conf",
               fmt::format("Host one two\n  HostName 127.0.0.1\n  Port {0}\n  IdentityFile {1}/key\n"
                           "  IdentitiesOnly yes\n  StrictHostKeyChecking no\n  UserKnownHostsFile {1}/known\n",
                           port, at));
    start_server();
    write_site_of_hosts("ssh");
  }
  /// The site file that comes with the program, with the two names, and with this test's settings of ssh.
  void write_site_of_hosts(const std::string& name, const std::function<std::string(std::string)>& change = {}) {
    const std::string settings = folder_.path().string() + "/ssh.conf";
    write_site(name, [&](std::string text) {
      text.replace(text.find("node1, node2"), 12, "one, two");
      boost::algorithm::replace_all(text, "[ssh, ", "[ssh, -F, " + settings + ", ");
      boost::algorithm::replace_all(text, " ssh -o", " ssh -F " + settings + " -o");
      return change ? change(text) : text;
    });
  }
  void TearDown() override {
    fs::remove(hold());
    if (!IsSkipped()) shell(folder_.path(), "kill \"$(cat sshd.pid)\"");
  }

  /// Its log has a whole path: for every connection it starts itself again, in the root folder.
  void start_server() const {
    EXPECT_EQ(shell(folder_.path(), "/usr/sbin/sshd -f \"$PWD/sshd.conf\" -E \"$PWD/sshd.log\"").code, 0);
  }
};

TEST_F(ProgramOverSsh, WorkersOfTwoHostsDoEveryRunOnce) {
  sweeps_to_its_end();
  for (const char* host : {"one.log", "two.log"}) {
    EXPECT_TRUE(fs::exists(fs::directory_iterator(runs_ / ".workers")->path() / host));
  }
}

TEST_F(ProgramOverSsh, AHostThatDoesNotAnswerMayStillHaveItsWorker) {
  write_sweep(kQueuedSweep);
  write_file(hold(), "");
  EXPECT_THAT(submit({}).out, AllOf(HasSubstr("1 worker on one\n"), HasSubstr("1 worker on two\n")));
  until([&] { return count_running() == 2; });
  shell(folder_.path(), "kill \"$(cat sshd.pid)\"; while [ -e sshd.pid ]; do sleep 0.1; done");
  const ProgramResult unknown = submit({});
  EXPECT_EQ(unknown.code, kFailed);
  EXPECT_THAT(unknown.err, HasSubstr("the queue does not answer: ssh"));
  fs::remove(hold());
  until([&] { return count_running() == 0; });
  start_server();
  until([&] { return watched().find("6 of 6 runs ended") != std::string::npos; });
  expect_all_done(6);
}

/// Machines that share no folder with this one: their copies of it are in another place.
class ProgramApart : public ProgramOverSsh {
 protected:
  void SetUp() override {
    if (shell(folder_.path(), "command -v rsync").code != 0) GTEST_SKIP() << needs::kSshServer;
    ProgramOverSsh::SetUp();
    if (IsSkipped()) return;
    write_site_of_hosts("apart", [&](std::string text) {
      boost::algorithm::replace_first(text, "place: xlm-work", "place: " + there_.path().string());
      boost::algorithm::replace_first(text, "# program: /opt/xlm/bin/xlm", "program: " XLM_FAKE_BINARY);
      return text;
    });
    write_sweep("sweep: {grid: {seed: [1, 2, 3, 4, 5, 6]}}\n");
  }

  std::vector<std::string> words(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all{"sweep", "sweep.yaml", "--launcher", "apart", "--site", site().string()};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  fs::path copy() const { return there_.path() / folder_.path().filename(); }
  std::size_t count_there(RunStatus status) const { return count_in(copy() / "runs", status); }

  TemporaryFolder there_;
};

TEST_F(ProgramApart, TwoMachinesDoEveryRunOnceAndItsResultsAreHere) {
  const ProgramResult dry = run(words({"--dry-run"}));
  EXPECT_THAT(dry.out, HasSubstr(" would be sent to one, two, and the runs done there, below ")) << dry.err;
  EXPECT_FALSE(fs::exists(copy()));
  const ProgramResult all = run(words());
  EXPECT_EQ(all.code, kDone) << all.err << all.out;
  EXPECT_THAT(all.out, HasSubstr("6 of 6 runs done"));
  EXPECT_THAT(all.err, AllOf(HasSubstr(" from one, "), HasSubstr(" from two, ")));
  expect_all_done(6);
  for (const fs::path& folder : run_folders()) {
    EXPECT_EQ(steps(folder).size(), 10U) << folder;
    EXPECT_TRUE(fs::exists(folder / "model")) << folder;
    EXPECT_TRUE(fs::exists(copy() / "runs" / folder.filename())) << "it was done there";
  }
  EXPECT_FALSE(fs::exists(copy() / "runs/.workers")) << "runs of this machine stay here";
  EXPECT_THAT(run(words()).out, HasSubstr("6 of 6 runs done"));
  EXPECT_THAT(run({"runs", "ls"}).out, HasSubstr("done"));
}

TEST_F(ProgramApart, WhatWasStoppedIsSavedThereAndContinues) {
  write_file(hold(), "");
  {
    BackgroundProgram sweep = start(words());
    until([&] { return count_there(RunStatus::kRunning) >= 2; });
    sweep.kill(SIGTERM);
    EXPECT_EQ(sweep.wait().code, kStopped);
  }
  const auto preempted = [&] {
    std::size_t count = 0;
    for (const fs::path& folder : run_folders()) count += read_live_run(folder).status == RunStatus::kPreempted ? 1 : 0;
    return count;
  };
  EXPECT_GE(preempted(), 2U) << "they are here, too";
  {
    BackgroundProgram killed = start(words());
    until([&] { return count_there(RunStatus::kRunning) >= 2; });
    killed.kill(SIGKILL);
    killed.wait();
  }
  until([&] { return count_there(RunStatus::kPreempted) >= 2; });  // no command waits for them
  fs::remove(hold());
  const ProgramResult all = run(words());
  EXPECT_EQ(all.code, kDone) << all.err << all.out;
  EXPECT_THAT(all.out, HasSubstr("6 of 6 runs done"));
  for (const fs::path& folder : run_folders()) {
    const std::vector<int> done = steps(copy() / "runs" / folder.filename());
    EXPECT_EQ(std::set<int>(done.begin(), done.end()).size(), 10U) << folder;
    EXPECT_TRUE(fs::exists(folder / "model")) << folder;
  }
}

TEST_F(ProgramApart, AMachineThatCannotGoOnLeavesItsRunsToTheOther) {
  std::string text = read_file(site());
  boost::algorithm::replace_first(text, "hosts: [one, two]", "hosts: [nowhere.invalid, two]");
  write_file(site(), text);
  const ProgramResult all = run(words());
  EXPECT_EQ(all.code, kDone) << all.err << all.out;
  EXPECT_THAT(all.err, HasSubstr("warning: nowhere.invalid: rsync ended with code "));
  expect_all_done(6);
  boost::algorithm::replace_first(text, "[nowhere.invalid, two]", "[nowhere.invalid]");
  write_file(site(), text);
  write_sweep("sweep: {grid: {seed: [7, 8]}}\n");
  const ProgramResult none = run(words());
  EXPECT_EQ(none.code, kFailed);
  EXPECT_THAT(none.err,
              AllOf(HasSubstr("error: nowhere.invalid: rsync ended with code "), HasSubstr("nowhere.invalid.log")));
}

TEST_F(ProgramApart, AnotherVersionThereIsRefused) {
  write_file(there_.path() / "xlm", "#!/bin/sh\necho 'xlm 0.0.9 (abc)'\n");
  fs::permissions(there_.path() / "xlm", fs::perms::owner_all);
  std::string text = read_file(site());
  boost::algorithm::replace_first(text, "program: " XLM_FAKE_BINARY, "program: " + (there_.path() / "xlm").string());
  write_file(site(), text);
  const ProgramResult other = run(words());
  EXPECT_EQ(other.code, kFailed);
  EXPECT_THAT(other.err, AllOf(HasSubstr("one has xlm 0.0.9 (abc), and this is xlm "), HasSubstr("apart.program")));
}

TEST_F(ProgramApart, WhatNeedsOneFolderIsRefusedBeforeAnythingIsSent) {
  write_file(there_.path() / "far.yaml", read_file(folder_.path() / "sweep.yaml"));
  std::vector<std::string> elsewhere = words();
  elsewhere[1] = (there_.path() / "far.yaml").string();
  elsewhere.push_back("data.path=" + data_.string());
  EXPECT_THAT(run(elsewhere).err, HasSubstr("is not in the current folder, which is what other machines get"));
  EXPECT_THAT(run(words({"--wait"})).err, HasSubstr("apart always waits"));
  EXPECT_THAT(run(words({"--canary"})).err, HasSubstr("--canary"));
  EXPECT_THAT(
      run(words({"train.eval_every=2", "sweep.early_stopping={measure: valid.loss, rungs: [2], keep: 1/2}"})).err,
      HasSubstr("early stopping needs one folder of runs for all machines"));
  EXPECT_THAT(run({"sweep", "sweep.yaml", "--launcher", "apart"}).err, HasSubstr("xlm sweep --print-site apart"));
  write_file(site(), "apart: {hosts: [one], place: x, run: [ssh]}\n");
  EXPECT_THAT(run(words()).err, HasSubstr("apart.send is missing"));
  EXPECT_THAT(run({"sweep", "sweep.yaml", "--only", "adaptive-span-text-0123456789abcdef"}).err,
              HasSubstr("the sweep has no such run here"));
  EXPECT_FALSE(fs::exists(copy()));
  EXPECT_FALSE(fs::exists(runs_));
}

}  // namespace
}  // namespace xlm
