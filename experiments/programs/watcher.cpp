// The process between a worker and a foreign program. It is forked from a process that may have threads: it takes no
// lock of theirs, throws nothing and prints nothing.
#include "experiments/programs/watcher.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>

#include "experiments/programs/process_tree.h"

namespace xlm {
namespace {

using WatchTime = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kBetweenRounds{20};  // while processes are being killed
constexpr milliseconds kLinger{500};        // for helpers that end by themselves after the program
constexpr milliseconds kLeftGrace{5000};    // between SIGTERM and SIGKILL for those that do not
constexpr milliseconds kPatience{30000};    // for processes that SIGKILL does not end
constexpr milliseconds kIdle{60000};        // nothing is awaited: signals and orders wake the watcher
constexpr int kFirstFile = 3;

/// Closes the files of the parent from this number on, its locks among them, or makes exec close them.
void leave_files(int first, bool on_exec) {
#ifdef SYS_close_range
  constexpr unsigned kOnExec = 4;  // CLOSE_RANGE_CLOEXEC
  if (::syscall(SYS_close_range, first, ~0U, on_exec ? kOnExec : 0U) == 0) return;
#endif
  DIR* const files = ::opendir("/proc/self/fd");  // Linux before 5.11
  if (files == nullptr) return;
  while (const dirent* entry = ::readdir(files)) {
    const int file = std::atoi(static_cast<const char*>(entry->d_name));
    if (file < first || file == ::dirfd(files)) continue;
    if (on_exec) ::fcntl(file, F_SETFD, FD_CLOEXEC);
    if (!on_exec) ::close(file);
  }
  ::closedir(files);
}

void send_report(int control, const WatcherReport& report) {
  while (::send(control, &report, sizeof(report), MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

struct StartFailure {
  int error = 0;
  int in_folder = 0;
};

/// In the program's first process, between fork and exec.
[[noreturn]] void become_program(const WatchedCommand& command, pid_t watcher, int failures) {
  ::setsid();  // no terminal: what reads or signals there is not for it
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  StartFailure failure;
  if (::getppid() != watcher) ::_exit(1);  // it died before the request stood
  ::dup2(command.output, STDOUT_FILENO);   // its input is the watcher's: nothing
  ::dup2(command.output, STDERR_FILENO);
  leave_files(kFirstFile, true);
  struct sigaction as_usual {};
  as_usual.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &as_usual, nullptr);
  if (::chdir(command.folder) != 0) {
    failure = {errno, 1};
  } else {
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execve(command.file, command.arguments, command.environment);
    failure = {errno, 0};
  }
  if (::write(failures, &failure, sizeof(failure)) < 0) ::_exit(2);
  ::_exit(1);
}

double seconds_in(const timeval& time) {
  constexpr double kMicro = 1e-6;
  return static_cast<double>(time.tv_sec) + kMicro * static_cast<double>(time.tv_usec);
}

/// Bytes of the largest process so far of `who`.
double largest_of(int who) {
  constexpr double kKilobyte = 1024;
  rusage usage{};
  ::getrusage(who, &usage);
  return kKilobyte * static_cast<double>(usage.ru_maxrss);
}

class Watcher {
 public:
  explicit Watcher(const WatchedCommand& command) : command_(command) {}

  void run() {
    if (!start()) return;
    while (true) {
      reap();
      if (none_left_ || gives_up()) break;
      act();
      wait_for_something();
    }
    report_.kind = WatcherReport::Kind::kGone;
    report_.unkillable = none_left_ ? 0 : std::ssize(descendants_of(::getpid()));
    rusage usage{};
    ::getrusage(RUSAGE_CHILDREN, &usage);
    report_.processor_seconds = seconds_in(usage.ru_utime) + seconds_in(usage.ru_stime);
    // A child begins as a copy of this process, whose size is not the program's.
    const double largest = largest_of(RUSAGE_CHILDREN);
    report_.largest = largest > own_size_ ? largest : 0;
    send_report(command_.control, report_);
    if (worker_gone_) save_rest();
  }

 private:
  bool start() {
    std::signal(SIGCHLD, SIG_DFL);  // where the caller's caller ignores it, ends of children are not told
    sigset_t child;
    ::sigemptyset(&child);
    ::sigaddset(&child, SIGCHLD);
    ended_children_ = ::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    std::array<int, 2> failures{-1, -1};
    StartFailure failure;
    own_size_ = largest_of(RUSAGE_SELF);
    const pid_t watcher = ::getpid();
    if (ended_children_ < 0 || ::pipe2(failures.data(), O_CLOEXEC) != 0 || (program_ = ::fork()) < 0) {
      failure.error = errno;
    } else if (program_ == 0) {
      become_program(command_, watcher, failures[1]);
    } else {
      ::close(failures[1]);
      while (::read(failures[0], &failure, sizeof(failure)) < 0 && errno == EINTR) {
      }
      ::close(failures[0]);
    }
    ::close(command_.output);
    report_.pid = program_;
    report_.kind = failure.error == 0 ? WatcherReport::Kind::kStarted : WatcherReport::Kind::kNotStarted;
    report_.error = failure.error;
    report_.in_folder = failure.in_folder;
    send_report(command_.control, report_);
    return failure.error == 0;
  }

  /// Takes note of all that have ended: of the program, and of what it left.
  void reap() {
    while (true) {
      int status = 0;
      const pid_t ended = ::waitpid(-1, &status, WNOHANG);
      if (ended < 0 && errno == EINTR) continue;
      if (ended < 0) none_left_ = true;
      if (ended <= 0) return;
      if (ended != program_) continue;
      program_ended_ = true;
      report_.status = status;
      report_.stopped = stopping_ || killing_ ? 1 : 0;
      if (!killing_ && asks_rest_next_ && WIFSIGNALED(status)) {
        ask_rest();  // a shell dies at once of the request that its program is to hear
      } else if (!killing_) {
        next_ = WatchTime::now() + kLinger;
      }
    }
  }

  /// What the program said last, and a worker that was killed has not read: a checkpoint may be behind it.
  void save_rest() const {
    if (command_.log == nullptr) return;
    constexpr int kFlags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    constexpr mode_t kMode = 0666;  // minus the umask
    int log = ::open(command_.log, kFlags, kMode);
    struct stat status {};
    if (log >= 0 && ::fstat(log, &status) == 0 && static_cast<std::uint64_t>(status.st_size) >= command_.log_part) {
      ::close(log);
      log = ::open(command_.log_end, kFlags, kMode);
    }
    if (log < 0 || ::fstat(log, &status) != 0 || !S_ISREG(status.st_mode)) return;
    std::array<char, 65536> piece;
    ssize_t count = 0;
    while ((count = ::read(command_.reading, piece.data(), piece.size())) > 0) {
      if (::write(log, piece.data(), static_cast<std::size_t>(count)) != count) return;
    }
  }

  bool gives_up() const { return killing_ && WatchTime::now() > killing_since_ + kPatience; }

  /// Does what is due.
  void act() {
    if (killing_) {
      signal_all(SIGKILL);
    } else if (WatchTime::now() >= next_) {
      if (asks_rest_next_ && !program_ended_) {
        ask_rest();
      } else if (!program_ended_) {  // its grace is over
        report_.killed = 1;
        begin_killing();
      } else if (!left_told_) {
        left_told_ = true;
        report_.left = std::ssize(descendants_of(::getpid()));
        signal_all(SIGTERM);
        next_ = WatchTime::now() + kLeftGrace;
      } else {
        begin_killing();
      }
    }
  }

  /// The program's helpers would end first, and take what it saves with them: it is asked alone, and they once half of
  /// its grace is over.
  void ask_to_stop() {
    stopping_ = true;
    const auto grace = std::chrono::duration_cast<WatchTime::duration>(std::chrono::duration<double>(command_.grace));
    end_of_grace_ = WatchTime::now() + grace;
    asks_rest_next_ = !command_.stop_all;
    next_ = asks_rest_next_ ? WatchTime::now() + grace / 2 : end_of_grace_;
    if (command_.stop_all) return signal_all(SIGTERM);
    ::kill(program_, SIGTERM);
    ::kill(program_, SIGCONT);
  }

  void ask_rest() {
    asks_rest_next_ = false;
    if (program_ended_) {
      left_told_ = true;
      report_.left = std::ssize(descendants_of(::getpid()));
    }
    next_ = end_of_grace_;
    for (const TreeProcess& process : descendants_of(::getpid())) {
      if (process.pid == program_) continue;
      ::kill(process.pid, SIGTERM);
      ::kill(process.pid, SIGCONT);
    }
  }

  void begin_killing() {
    if (killing_) return;
    killing_ = true;
    killing_since_ = WatchTime::now();
    signal_all(SIGKILL);
  }

  /// Those in the program's group at once, so that none of them forks another meanwhile; then all others. A halted one
  /// goes on, as it could not end otherwise.
  void signal_all(int signal) const {
    if (!program_ended_) {
      ::kill(-program_, signal);
      ::kill(-program_, SIGCONT);
    }
    if (signal == SIGKILL) kill_children(::getpid());
    for (const TreeProcess& process : descendants_of(::getpid())) {
      if (!program_ended_ && process.group == program_) continue;
      ::kill(process.pid, signal);
      ::kill(process.pid, SIGCONT);
    }
  }

  void wait_for_something() {
    std::array<pollfd, 2> sources{{{ended_children_, POLLIN, 0}, {worker_gone_ ? -1 : command_.control, POLLIN, 0}}};
    const auto due = std::chrono::ceil<milliseconds>(next_ - WatchTime::now());
    const milliseconds wait = killing_ ? kBetweenRounds : std::clamp(due, milliseconds(0), kIdle);
    if (::poll(sources.data(), sources.size(), static_cast<int>(wait.count())) <= 0) return;
    if (sources[0].revents != 0) {
      signalfd_siginfo ignored{};
      while (::read(ended_children_, &ignored, sizeof(ignored)) > 0) {
      }
    }
    if (sources[1].revents != 0) take_order();
  }

  void take_order() {
    char order = 0;
    const ssize_t count = ::recv(command_.control, &order, 1, MSG_DONTWAIT);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (count <= 0) worker_gone_ = true;
    if (count == 1 && order == static_cast<char>(WatcherOrder::kStopProgram)) {
      if (stopping_ || killing_ || program_ended_) return;
      return ask_to_stop();
    }
    begin_killing();
  }

  const WatchedCommand& command_;
  WatcherReport report_;
  double own_size_ = 0;
  int ended_children_ = -1;
  pid_t program_ = -1;
  bool program_ended_ = false;
  bool stopping_ = false;
  bool asks_rest_next_ = false;  // it was asked to stop, and what it has started was not
  bool killing_ = false;
  bool left_told_ = false;
  bool worker_gone_ = false;
  bool none_left_ = false;
  WatchTime::time_point next_ = WatchTime::time_point::max();  // when something is due
  WatchTime::time_point end_of_grace_;
  WatchTime::time_point killing_since_;
};

}  // namespace

void run_watcher(const WatchedCommand& command) {
  ::setsid();  // what a terminal sends is not for it
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::prctl(PR_SET_NAME, "xlm-watcher");
  // Only three files of the parent stay, behind the standard ones.
  const int nothing = ::open("/dev/null", O_RDWR);
  const int control = ::fcntl(command.control, F_DUPFD, 64);
  const int output = ::fcntl(command.output, F_DUPFD, 64);
  const int reading = ::fcntl(command.reading, F_DUPFD, 64);
  for (int file = 0; file < kFirstFile; ++file) ::dup2(nothing, file);
  ::dup2(control, kFirstFile);
  ::dup2(output, kFirstFile + 1);
  ::dup2(reading, kFirstFile + 2);
  leave_files(kFirstFile + 3, false);
  WatchedCommand own = command;
  own.control = kFirstFile;
  own.output = kFirstFile + 1;
  own.reading = kFirstFile + 2;
  Watcher(own).run();
  ::_exit(0);
}

}  // namespace xlm
