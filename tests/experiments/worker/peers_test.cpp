// How the other processes of a run end.
#include "experiments/worker/peers.h"

#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include <gmock/gmock.h>

#include "base/error.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;

/// How a process ended that does nothing but leave this word, where there is one, and end with this code.
std::optional<AttemptEnd> end_of_peer(int code, const std::string& word = "", std::int64_t rows = 0) {
  const TemporaryFolder folder;
  const fs::path program = folder.path() / "program";
  write_file(program, "#!/bin/sh\nexit " + std::to_string(code) + "\n");
  fs::permissions(program, fs::perms::owner_all);
  Peers peers(folder.path(), program.string(), 2, 1, nullptr);
  while (!peers.first().give_up()) ::usleep(1000);
  if (!word.empty()) leave_word({.rank = 1, .meeting = peers.first().meeting}, Error(word));
  if (rows > 0) leave_rows({.rank = 1, .meeting = peers.first().meeting}, rows);
  return peers.lost();
}

TEST(Peers, OneThatRanOutOfMemoryAmidAStepMayDoWithFewerRows) {
  const std::optional<AttemptEnd> end = end_of_peer(kOutOfMemoryAmidStep);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->cause, EndCause::kMemory);
  EXPECT_FALSE(end->at_any_rows);
  EXPECT_EQ(end->rows, 0) << "it did not say how many it computed";
  EXPECT_EQ(end_of_peer(kOutOfMemoryAmidStep, "", 3)->rows, 3);
}

TEST(Peers, OneWithoutMemoryForItsModelHasTooLittleAtAnyNumberOfRows) {
  const std::optional<AttemptEnd> end = end_of_peer(kOutOfResources);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->cause, EndCause::kMemory);
  EXPECT_TRUE(end->at_any_rows);
  EXPECT_THAT(end->reason, HasSubstr("out of memory in process 2 of 2"));
}

TEST(Peers, OtherCodesAreErrorsOrNone) {
  const std::optional<AttemptEnd> failed = end_of_peer(kBadData);
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->cause, EndCause::kError);
  EXPECT_EQ(failed->code, kBadData);
  EXPECT_EQ(failed->reason, "process 2 of 2: its worker ended with code 3");
  EXPECT_FALSE(end_of_peer(kLostOthers));
}

TEST(Peers, TheWordOfOneIsTheReasonAndItsCodeIsTheRuns) {
  const std::optional<AttemptEnd> diverged = end_of_peer(kDiverged, "the loss became NaN");
  ASSERT_TRUE(diverged);
  EXPECT_EQ(diverged->code, kDiverged);
  EXPECT_EQ(diverged->reason, "process 2 of 2: the loss became NaN");
  const std::optional<AttemptEnd> killed = end_of_peer(128 + SIGTERM, "no word of one that was killed");
  ASSERT_TRUE(killed);
  EXPECT_EQ(killed->code, kFailed);
  EXPECT_EQ(killed->reason, "process 2 of 2: its worker was killed by signal 15");
}

/// A program that does so and nothing else, as the only other process.
fs::path script(const TemporaryFolder& folder, const std::string& lines) {
  const fs::path program = folder.path() / "program";
  write_file(program, "#!/bin/sh\n" + lines + "\n");
  fs::permissions(program, fs::perms::owner_all);
  return program;
}

TEST(Peers, MeetWhereNoOtherUserLooks) {
  const TemporaryFolder folder;
  const mode_t before = ::umask(0);
  const Peers peers(folder.path(), script(folder, "exit 0").string(), 2, 1, nullptr);
  ::umask(before);
  struct stat meeting {};
  ASSERT_EQ(::stat(peers.first().meeting.c_str(), &meeting), 0);
  EXPECT_EQ(meeting.st_mode & 0777U, 0700U);
  EXPECT_EQ(meeting.st_uid, ::geteuid());
}

TEST(Peers, OneThatIsHaltedIsNotGoneAndGoesOnToStop) {
  const TemporaryFolder folder;
  const fs::path stopped = folder.path() / "stopped";
  const std::string lines =
      "trap 'echo >\"" + stopped.string() + "\"; exit 75' TERM\nkill -STOP $$\nwhile :; do sleep 0.01; done";
  std::vector<std::string> notes;
  {
    Peers peers(folder.path(), script(folder, lines).string(), 2, 1, nullptr,
                [&](const std::string& note) { notes.push_back(note); });
    for (int i = 0; i < 20'000 && notes.empty(); ++i) {
      EXPECT_FALSE(peers.first().give_up());
      ::usleep(1000);
    }
    for (int i = 0; i < 10; ++i) EXPECT_FALSE(peers.first().give_up());
    ASSERT_EQ(notes.size(), 1U) << "it is said once";
    EXPECT_THAT(notes.front(),
                ::testing::StartsWith("note: process 2 of 2 is halted, and the run waits for it: `kill -CONT "));
    EXPECT_FALSE(peers.lost()) << "it ended as it was asked to";
  }
  EXPECT_TRUE(fs::exists(stopped));
}

}  // namespace
}  // namespace xlm
