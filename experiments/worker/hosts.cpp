// The machines on which the processes of a run are that several do together.
#include "experiments/worker/hosts.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "base/command.h"
#include "base/error.h"
#include "base/progress.h"
#include "base/text.h"
#include "experiments/runs/process_identity.h"

namespace xlm {
namespace {

std::string slurm_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Throws Error with the code kStopped as soon as that is asked for.
void wait_unless_stopped(double seconds, const std::function<bool()>& should_stop) {
  constexpr std::chrono::milliseconds kBetweenLooks{100};
  for (const double end = monotonic_seconds() + seconds; monotonic_seconds() < end;) {
    if (should_stop()) throw Error("stopped before Slurm had said which nodes the job has", kStopped);
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

/// The controller may be starting again.
std::string ask_scontrol(std::vector<std::string> words, const std::function<bool()>& should_stop) {
  constexpr int kTries = 5;
  constexpr double kPause = 5;  // seconds
  words.insert(words.begin(), {"scontrol", "show"});
  CommandResult result = run_command(words);
  for (int i = 1; i < kTries && result.code != 0 && result.code != kNoProgram; ++i) {
    wait_unless_stopped(kPause, should_stop);
    result = run_command(words);
  }
  if (result.code == 0) return result.out;
  throw Error(fmt::format("Slurm does not say which nodes this job has: {}: {}", join(words, " "),
                          result.code == kNoProgram ? "there is no such program" : trim(result.err)));
}

/// As Slurm knows this machine; the beginning of its name where this is no step or batch script of a job.
std::string own_node() {
  const std::string node = slurm_variable("SLURMD_NODENAME");
  const std::string host = this_process().host;
  return node.empty() ? host.substr(0, host.find('.')) : node;
}

/// A socket that has chosen its own address; -1 with errno where there is no way to the other.
int socket_towards(const addrinfo& other) {
  const int socket = ::socket(other.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0 || ::connect(socket, other.ai_addr, other.ai_addrlen) == 0) return socket;
  const int cause = errno;
  ::close(socket);
  errno = cause;
  return -1;
}

Hosts this_one_alone(std::int64_t nodes, const std::string& why) {
  Hosts hosts;
  hosts.note = fmt::format("the job has {} nodes, and this one alone is used: {}", nodes, why);
  return hosts;
}

}  // namespace

std::int64_t job_nodes() {
  std::int64_t nodes = 0;
  return parse_integer(slurm_variable("SLURM_JOB_NUM_NODES"), nodes) ? std::max<std::int64_t>(nodes, 1) : 1;
}

bool is_spread(std::int64_t processes) { return job_nodes() > 1 && processes % job_nodes() == 0; }

Hosts spread(const std::vector<std::string>& nodes, const std::string& own) {
  Hosts hosts;
  const auto here = std::find(nodes.begin(), nodes.end(), own);
  if (here == nodes.end()) return this_one_alone(std::ssize(nodes), fmt::format("{} is none of them", own));
  hosts.names = nodes;
  const auto first = hosts.names.begin();
  std::rotate(first, first + (here - nodes.begin()), first + (here - nodes.begin()) + 1);
  return hosts;
}

Hosts find_hosts(std::int64_t processes, const std::function<bool()>& should_stop) {
  if (job_nodes() <= 1) return {};
  // No other program is asked: it may be missing, as in a container.
  if (!is_spread(processes))
    return this_one_alone(job_nodes(), fmt::format("the run has train.processes: {}", processes));
  const std::string names = ask_scontrol({"hostnames", slurm_variable("SLURM_JOB_NODELIST")}, should_stop);
  Hosts hosts = spread(split(std::string(trim(names)), '\n'), own_node());
  if (hosts.names.empty()) return hosts;
  const std::string& other = hosts.names[1];
  const std::string address = node_address(ask_scontrol({"node", "-o", other}, should_stop));
  hosts.address = address_towards(address.empty() ? other : address);
  return hosts;
}

std::string node_address(std::string_view shown) {
  constexpr std::string_view kAddress = " NodeAddr=";
  const std::size_t at = shown.find(kAddress);
  if (at == std::string_view::npos) return "";
  const std::string_view value = shown.substr(at + kAddress.size());
  return std::string(value.substr(0, value.find_first_of(" \n")));
}

std::string address_towards(const std::string& other) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  // A port must be named, and any will do: nothing is sent.
  const int failure = ::getaddrinfo(other.c_str(), "9", &wanted, &found);
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, &::freeaddrinfo);
  if (failure != 0) throw Error(fmt::format("the node {} has no address: {}", other, ::gai_strerror(failure)));
  const int socket = socket_towards(*addresses);
  if (socket < 0) throw Error(fmt::format("there is no way to the node {}: {}", other, std::strerror(errno)));
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  std::array<char, NI_MAXHOST> text{};
  const bool known = ::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &size) == 0 &&
                     ::getnameinfo(reinterpret_cast<const sockaddr*>(&own), size, text.data(), text.size(), nullptr, 0,
                                   NI_NUMERICHOST) == 0;
  ::close(socket);
  if (!known) throw Error(fmt::format("this machine has no address towards the node {}", other));
  return text.data();
}

std::vector<std::string> start_on(const std::string& node) {
  // A step for each process, for its exit code. Steps share the job's cores, memory and GPUs of a node as processes of
  // one machine do: none waits for another, and none is bound to a part.
  return {"/usr/bin/env",       "srun",       "--overlap",       "--export=ALL", "--nodes=1", "--ntasks=1",
          "--nodelist=" + node, "--mpi=none", "--cpu-bind=none", "--mem=0"};
}

}  // namespace xlm
