// The processes of a program.
#include "experiments/programs/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string_view>
#include <thread>

namespace xlm {
namespace {

constexpr std::chrono::milliseconds kBetweenKills{20};

/// Up to `limit` bytes of /proc/PID/NAME. By system calls: the watcher, which is forked from a process with threads,
/// calls this too, and nothing here may wait for a lock of theirs.
std::string read_of_process(pid_t pid, const char* name, std::size_t limit) {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/%d/%s", static_cast<int>(pid), name);
  const int file = ::open(path.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return "";
  std::string text;
  std::array<char, 4096> part{};
  while (text.size() < limit) {
    const ssize_t count = ::read(file, part.data(), part.size());
    if (count <= 0) break;
    text.append(part.data(), static_cast<std::size_t>(count));
  }
  ::close(file);
  return text;
}

/// Calls `see` for all processes but those that have ended.
template <class See>
void see_processes(See see) {
  constexpr std::size_t kStatBytes = 4096;
  DIR* const folder = ::opendir("/proc");
  if (folder == nullptr) return;
  while (const dirent* entry = ::readdir(folder)) {
    const auto pid = static_cast<pid_t>(std::strtol(static_cast<const char*>(entry->d_name), nullptr, 10));
    if (pid <= 0) continue;
    const std::string text = read_of_process(pid, "stat", kStatBytes);
    const std::size_t name_end = text.rfind(')');  // the name may itself hold spaces and parentheses
    if (name_end == std::string::npos) continue;
    char state = 'X';
    int parent = 0;
    int group = 0;
    if (std::sscanf(text.c_str() + name_end + 1, " %c %d %d", &state, &parent, &group) != 3) continue;
    if (state != 'Z' && state != 'X') see(TreeProcess{pid, parent, group});
  }
  ::closedir(folder);
}

std::vector<TreeProcess> living_processes() {
  std::vector<TreeProcess> processes;
  see_processes([&processes](const TreeProcess& process) { processes.push_back(process); });
  return processes;
}

/// The number behind "NAME:" in kilobytes, as bytes; negative if there is none.
double bytes_behind(const std::string& text, const char* name) {
  const std::size_t place = text.find(name);
  if (place == std::string::npos) return -1;
  constexpr double kKilobyte = 1024;
  return std::strtod(text.c_str() + place + std::strlen(name), nullptr) * kKilobyte;
}

bool has_variable(pid_t pid, const std::string& assignment) {
  constexpr std::size_t kEnvironmentBytes = std::size_t{1} << 23U;
  const std::string all = read_of_process(pid, "environ", kEnvironmentBytes);
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = std::min(all.find('\0', begin), all.size());
    if (std::string_view(all).substr(begin, end - begin) == assignment) return true;
    begin = end + 1;
  }
  return false;
}

std::set<pid_t> with_ancestors(pid_t pid, const std::vector<TreeProcess>& processes) {
  std::set<pid_t> found;
  while (pid > 0 && found.insert(pid).second) {
    const auto at = std::ranges::find_if(processes, [pid](const auto& p) { return p.pid == pid; });
    pid = at == processes.end() ? 0 : at->parent;
  }
  return found;
}

}  // namespace

std::vector<TreeProcess> descendants_of(pid_t root) {
  std::vector<TreeProcess> others = living_processes();
  std::vector<TreeProcess> found;
  std::vector<pid_t> parents{root};
  while (!parents.empty()) {
    const pid_t parent = parents.back();
    parents.pop_back();
    const auto rest = std::partition(others.begin(), others.end(), [&](const auto& p) { return p.parent != parent; });
    for (auto child = rest; child != others.end(); ++child) parents.push_back(child->pid);
    found.insert(found.end(), rest, others.end());
    others.erase(rest, others.end());
  }
  return found;
}

void kill_children(pid_t parent) {
  see_processes([parent](const TreeProcess& process) {
    if (process.parent == parent) ::kill(process.pid, SIGKILL);
  });
}

double memory_of(const std::vector<TreeProcess>& processes) {
  constexpr std::size_t kTextBytes = 16384;
  double sum = 0;
  for (const TreeProcess& process : processes) {
    double bytes = bytes_behind(read_of_process(process.pid, "smaps_rollup", kTextBytes), "\nPss:");
    if (bytes < 0) bytes = bytes_behind(read_of_process(process.pid, "status", kTextBytes), "\nVmRSS:");
    sum += std::max(bytes, 0.0);
  }
  return sum;
}

std::int64_t kill_with_variable(const std::string& name, const std::string& value, double seconds, std::int64_t& left) {
  using Time = std::chrono::steady_clock;
  const Time::time_point end =
      Time::now() + std::chrono::duration_cast<Time::duration>(std::chrono::duration<double>(seconds));
  const std::string assignment = name + "=" + value;
  std::set<pid_t> killed;
  while (true) {
    const std::vector<TreeProcess> processes = living_processes();
    const std::set<pid_t> own = with_ancestors(::getpid(), processes);
    left = 0;
    for (const TreeProcess& process : processes) {
      if (own.count(process.pid) > 0 || !has_variable(process.pid, assignment)) continue;
      ::kill(process.pid, SIGKILL);
      killed.insert(process.pid);
      ++left;
    }
    if (left == 0 || Time::now() > end) return std::ssize(killed);
    std::this_thread::sleep_for(kBetweenKills);
  }
}

}  // namespace xlm
