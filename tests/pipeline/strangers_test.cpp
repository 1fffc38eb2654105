// Processes of one run under interference: foreign connections, and a halted process.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <set>
#include <sstream>

#include <gmock/gmock.h>

#include <fmt/format.h>

#include "tests/needs.h"
#include "tests/pipeline/pipeline_fixture.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;

class ProcessesAmongOthers : public Pipeline {};

// A halted process has not ended and cannot do its part.
TEST_F(ProcessesAmongOthers, AStopEndsThemEvenIfOneIsHalted) {
  for (const int signal : {SIGTERM, SIGINT}) {
    const std::string runs = fmt::format("runs-{}", signal);
    const auto run = start({"train", "run.yaml", "train.steps=100000", "train.processes=3", "--runs", runs});
    wait_for_record(runs, "\"checkpoint\"");
    const std::vector<pid_t> peers = peers_of(run->pid());
    ASSERT_EQ(peers.size(), 2U);
    ::kill(peers[1], SIGSTOP);
    wait_for_record(runs, "process 3 of 3 is halted");
    const auto asked = std::chrono::steady_clock::now();
    run->kill(signal);
    const ProgramResult result = run->wait();
    EXPECT_EQ(result.code, 75) << result.err;
    EXPECT_LT(std::chrono::steady_clock::now() - asked, std::chrono::seconds(15));
    EXPECT_THAT(result.err, HasSubstr("with a checkpoint"));
    EXPECT_EQ(::kill(peers[1], 0), -1) << "it has ended, too";
  }
}

/// Names of the Unix sockets of these processes, to which any process may connect.
std::set<std::string> doors_of(const std::vector<pid_t>& processes) {
  std::set<std::string> own;  // their sockets' numbers
  for (const pid_t process : processes) {
    std::error_code ended;
    for (fs::directory_iterator file(fmt::format("/proc/{}/fd", process), ended), end; !ended && file != end;
         file.increment(ended)) {
      std::error_code closed;
      const std::string target = fs::read_symlink(file->path(), closed).string();
      if (target.starts_with("socket:[")) own.insert(target.substr(8, target.size() - 9));
    }
  }
  std::set<std::string> doors;
  std::ifstream sockets("/proc/net/unix");
  for (std::string line; std::getline(sockets, line);) {
    std::istringstream fields(line);
    std::string field;
    for (int i = 0; i < 7; ++i) fields >> field;
    std::string name;
    if (own.contains(field) && fields >> name && name.front() == '@') doors.insert(name.substr(1));
  }
  return doors;
}

// The foreign connections know the sockets' names, and come before the processes themselves.
TEST_F(ProcessesAmongOthers, StrangersWhoConnectChangeNothing) {
  ASSERT_EQ(xlm({"train", "run.yaml", "--runs", "alone", "train.processes=3"}).code, 0);
  std::vector<int> held;
  std::set<std::string> known;
  const auto run = start({"train", "run.yaml", "--runs", "among-strangers", "train.processes=3"});
  while (run->is_running()) {
    std::vector<pid_t> processes = peers_of(run->pid());
    processes.push_back(run->pid());
    for (const std::string& door : doors_of(processes)) {
      if (!known.insert(door).second) continue;
      sockaddr_un address{};
      address.sun_family = AF_UNIX;
      std::copy(door.begin(), door.end(), address.sun_path + 1);
      const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
      const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + door.size());
      if (::connect(socket, reinterpret_cast<sockaddr*>(&address), size) == 0 && known.size() % 2 == 0) {
        const std::string zeros(10'000, '\0');
        ::send(socket, zeros.data(), zeros.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      }
      held.push_back(socket);
    }
  }
  const ProgramResult result = run->wait();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_FALSE(held.empty());
  for (const int socket : held) ::close(socket);
  EXPECT_EQ(model_hash("among-strangers"), model_hash("alone"));
}

TEST_F(ProcessesAmongOthers, OnOneMachineNeedNoNetwork) {
  const std::string alone = fmt::format("unshare -n{} ", ::geteuid() == 0 ? "" : "r");
  if (shell(folder_.path(), alone + "true").code != 0) GTEST_SKIP() << needs::kNamespaces;
  const ProgramResult result =
      shell(folder_.path(), alone + fmt::format("'{}' train run.yaml train.processes=2", XLM_BINARY));
  EXPECT_EQ(result.code, 0) << result.err;
}

}  // namespace
}  // namespace xlm
