// On which machines the processes of a run are, and how they reach each other.
#include "experiments/worker/hosts.h"

#include <cstdlib>

#include <gmock/gmock.h>

#include "base/error.h"
#include "core/api/interface.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Hosts, ShareTheProcessesEvenlyWithThisOneFirst) {
  const Hosts hosts = spread({"a1", "a2", "a3"}, "a2");
  EXPECT_THAT(hosts.names, ElementsAre("a2", "a1", "a3"));
  EXPECT_EQ(hosts.count(), 3);
  EXPECT_EQ(hosts.share(6), 2);
  EXPECT_EQ(hosts.note, "");
}

TEST(Hosts, AreThisMachineAloneWhereItIsNoneOfTheNodes) {
  const Hosts alone = spread({"a1", "a2"}, "login");
  EXPECT_THAT(alone.names, IsEmpty());
  EXPECT_EQ(alone.count(), 1);
  EXPECT_EQ(alone.note, "the job has 2 nodes, and this one alone is used: login is none of them");
}

TEST(Hosts, NobodyIsAskedWhoseAnswerWouldChangeNothing) {
  const char* const path = std::getenv("PATH");
  const std::string before = path == nullptr ? "" : path;
  ::setenv("PATH", "/nonexistent", 1);  // no scontrol, as in a container
  const auto never = [] { return false; };
  EXPECT_EQ(find_hosts(2, never).note, "");
  ::setenv("SLURM_JOB_NUM_NODES", "2", 1);
  EXPECT_EQ(job_nodes(), 2);
  EXPECT_TRUE(is_spread(4));
  EXPECT_FALSE(is_spread(1));
  EXPECT_EQ(find_hosts(1, never).note,
            "the job has 2 nodes, and this one alone is used: the run has train.processes: 1");
  EXPECT_THAT(find_hosts(3, never).note, HasSubstr("train.processes: 3"));
  EXPECT_THROW(find_hosts(2, never), Error);
  ::unsetenv("SLURM_JOB_NUM_NODES");
  EXPECT_EQ(job_nodes(), 1);
  EXPECT_FALSE(is_spread(2));
  ::setenv("PATH", before.c_str(), 1);
}

TEST(Hosts, AreAskedForNoMoreWhereTheRunIsToStop) {
  const TemporaryFolder folder;
  write_file(folder.path() / "scontrol", "#!/bin/sh\necho asked >>\"$(dirname \"$0\")/asked\"; exit 1\n");
  fs::permissions(folder.path() / "scontrol", fs::perms::owner_all);
  const char* const path = std::getenv("PATH");
  const std::string before = path == nullptr ? "" : path;
  ::setenv("PATH", (folder.path().string() + ":" + before).c_str(), 1);
  ::setenv("SLURM_JOB_NUM_NODES", "2", 1);
  ExitCode code = kDone;
  try {
    find_hosts(2, [] { return true; });
  } catch (const Error& error) {
    code = error.code();
  }
  ::unsetenv("SLURM_JOB_NUM_NODES");
  ::setenv("PATH", before.c_str(), 1);
  EXPECT_EQ(code, kStopped);
  EXPECT_EQ(read_file(folder.path() / "asked"), "asked\n");
}

TEST(Hosts, OfAProcessAreItsBlock) {
  const Processes sixth{.rank = 5, .count = 8, .hosts = 2};
  EXPECT_EQ(sixth.count_here(), 4);
  EXPECT_EQ(sixth.rank_here(), 1);
  EXPECT_EQ((Processes{.rank = 5, .count = 8}.rank_here()), 5);
}

TEST(Hosts, AddressesAreThoseThatSlurmSays) {
  EXPECT_EQ(node_address("NodeName=two Gres=gpu:2 NodeAddr=198.18.12.2 NodeHostName=two.cluster OS=Linux"),
            "198.18.12.2");
  EXPECT_EQ(node_address("NodeName=two NodeAddr=two\n"), "two");
  EXPECT_EQ(node_address("NodeName=two"), "");
}

TEST(Hosts, TheOwnAddressIsThatOfTheWayToTheOther) {
  EXPECT_EQ(address_towards("127.0.0.1"), "127.0.0.1");
  EXPECT_EQ(address_towards("127.0.0.2"), "127.0.0.1");
  EXPECT_THROW(address_towards("no-such-node.invalid"), Error);
}

}  // namespace
}  // namespace xlm
