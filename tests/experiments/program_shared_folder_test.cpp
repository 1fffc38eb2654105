// A folder of runs that a group shares: what one member may do to the commands of another.
#include <gmock/gmock.h>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/text.h"
#include "tests/experiments/program_fixture.h"
#include "tests/needs.h"

namespace xlm {
namespace {

using ::testing::AnyOf;

/// Users who share a folder may put any file into it under any name. No command may wait for the other end of a pipe,
/// or read an endless device.
TEST_F(ProgramTest, NoCommandWaitsForWhatIsNoFileInAFolder) {
  ASSERT_EQ(run({"train", "run.yaml"}).code, kDone);
  const fs::path folder = run_folders().front();
  const std::string id = folder.filename().string();
  write_sweep("sweep: {grid: {seed: [1]}}\n");
  const std::vector<std::string> commands{"runs ls",
                                          "runs show " + id,
                                          "runs sync --rebuild",
                                          "train run.yaml",
                                          "sweep sweep.yaml",
                                          "eval " + id,
                                          "runs export --out exported",
                                          "runs merge copy",
                                          "runs pack " + id + " --out packed.tar"};
  const auto expect_none_waits = [&](const std::string& kind, const std::string& name) {
    for (const char* copy : {"copy", "kept"}) {
      fs::remove_all(folder_.path() / copy);
      fs::copy(runs_, folder_.path() / copy, fs::copy_options::recursive);
    }
    create_folders((folder / name).parent_path());
    fs::remove(folder / name);
    ASSERT_EQ(shell(folder, kind + " " + name).code, 0);
    for (const std::string& command : commands) {
      const int code = shell(folder_.path(), fmt::format("timeout 60 '{}' {}", XLM_FAKE_BINARY, command)).code;
      EXPECT_THAT(code, AnyOf(kDone, kFailed, kUsage, kBadData)) << command << ": " << kind << " " << name;
    }
    fs::remove_all(runs_);
    fs::rename(folder_.path() / "kept", runs_);
  };
  for (const char* name : {"journal.jsonl", "config.yaml", "environment.json", "log.txt", "lock.1", "lock.9",
                           "model/config.yaml", "model/model.safetensors", "model/vocab.json", "../results.db"}) {
    expect_none_waits("mkfifo", name);
  }
  for (const char* name : {"journal.jsonl", "config.yaml", "log.txt", "model/model.safetensors"}) {
    expect_none_waits("ln -s /dev/zero", name);
  }
}

/// Users 3001 and 3002 of one group, with the umask of users who share folders. The first removes all it can of the
/// second's sweep and puts its own programs there.
TEST_F(ProgramTest, NoMemberOfAGroupChangesTheProgramOfAnothersSweep) {
  constexpr const char* kUser =
      "setpriv --reuid={0} --regid={0} --groups=2000 env HOME=/nonexistent sh -c 'umask 002; {1}'";
  if (::geteuid() != 0) GTEST_SKIP() << needs::kRoot;
  const auto as = [&](int user, const std::string& command) { return fmt::format(fmt::runtime(kUser), user, command); };
  if (shell(folder_.path(), as(3001, "test -x \"" XLM_FAKE_BINARY "\"")).code != 0) GTEST_SKIP() << needs::kFileSystem;
  fs::permissions(folder_.path(), fs::perms(01777));
  write_file(hold(), "");
  ASSERT_EQ(shell(folder_.path(), "chmod -R a+rX . && mkdir runs && chgrp 2000 runs && chmod 2775 runs").code, 0);
  write_sweep("sweep: {grid: {seed: [1, 2]}}\n");
  BackgroundProgram sweep({"/bin/sh", "-c", as(3002, "exec \"" XLM_FAKE_BINARY "\" sweep sweep.yaml --jobs 1")},
                          folder_.path());
  until([&] { return count_running() == 1 || !sweep.is_running(); });
  write_file(folder_.path() / "evil", "#!/bin/sh\nid -u >>" + (folder_.path() / "ran").string() + "\n");
  fs::permissions(folder_.path() / "evil", fs::perms(0755));
  shell(folder_.path(),
        as(3001,
           "for place in runs/.programs /tmp/xlm-3002/programs ${TMPDIR:-/tmp}/xlm-3002/programs; do"
           "  for copy in $place/*/bin/xlm; do cp evil $copy; ln -sf $PWD/evil $copy; mv -f evil $copy; done;"
           "  for old in $place/*/bin $place/*/lib $place/* $place; do"
           "    mv $old $old.old && mkdir -p $place/$(ls $place.old)/bin && cp evil $place/*/bin/xlm; done;"
           " done"));
  fs::remove(hold());
  const ProgramResult result = sweep.wait();
  EXPECT_EQ(result.code, kDone) << result.err;
  EXPECT_FALSE(fs::exists(folder_.path() / "ran")) << "as user " << read_file(folder_.path() / "ran");
  expect_all_done(2);
  EXPECT_FALSE(fs::exists(runs_ / ".programs"));
}

}  // namespace
}  // namespace xlm
