// A program of the system that answers lines.
#include "base/dialogue.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fmt/format.h>

#include "base/command.h"
#include "base/error.h"
#include "base/progress.h"
#include "base/text.h"

namespace xlm {
namespace {

constexpr int kAnswerPollMilliseconds = 200;
constexpr std::size_t kReadBytes = 65536;
constexpr std::size_t kLongestAnswer = std::size_t{1} << 24;  // bytes

}  // namespace

Dialogue::Dialogue(const std::vector<std::string>& words) : name_(words.at(0)) {
  std::array<int, 2> ends{};
  errors_.reset(::memfd_create("errors", MFD_CLOEXEC));
  if (!errors_.is_open() || ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw ResourceError(fmt::format("cannot talk to {}: {}", name_, std::strerror(errno)));
  }
  channel_.reset(ends[0]);
  const Descriptor of_program(ends[1]);
  // Ctrl-C is for this process, which decides what it means.
  process_ = start_program(words, of_program.get(), of_program.get(), errors_.get(), true);
  if (process_ != 0) return;
  throw Error(fmt::format("{} cannot be started: it is not there, or you may not run it", name_));
}

Dialogue::~Dialogue() {
  channel_.reset();
  ::kill(process_, SIGKILL);
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::string Dialogue::errors() const {
  std::string text;
  std::array<char, 4096> part{};
  for (;;) {
    const ssize_t bytes = ::pread(errors_.get(), part.data(), part.size(), static_cast<off_t>(text.size()));
    if (bytes <= 0) return text;
    text.append(part.data(), static_cast<std::size_t>(bytes));
  }
}

void Dialogue::fail(const std::string& why) const {
  const std::string said = errors();
  const std::string_view text = trim(said);
  const std::string last(text.substr(text.rfind('\n') + 1));  // npos + 1 is the beginning
  throw Error(fmt::format("{} {}{}", name_, why, last.empty() ? "" : ": " + last));
}

void Dialogue::send(const std::string& text) {
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t bytes = ::send(channel_.get(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) fail("has ended");
    sent += static_cast<std::size_t>(bytes);
  }
}

std::string Dialogue::ask(const std::string& line, double seconds) {
  send(line + "\n");
  const double end = monotonic_seconds() + seconds;
  for (std::size_t looked_at = 0;;) {
    if (const std::size_t newline = unread_.find('\n', looked_at); newline != std::string::npos) {
      std::string answer = unread_.substr(0, newline);
      unread_.erase(0, newline + 1);
      return answer;
    }
    looked_at = unread_.size();
    if (looked_at > kLongestAnswer) fail("answers without a line end");
    if (monotonic_seconds() > end) fail(fmt::format("has not answered for {:.0f} s", seconds));
    pollfd waiting{.fd = channel_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, kAnswerPollMilliseconds) <= 0) continue;
    std::array<char, kReadBytes> part{};
    const ssize_t bytes = ::recv(channel_.get(), part.data(), part.size(), 0);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) fail("has ended without an answer");
    unread_.append(part.data(), static_cast<std::size_t>(bytes));
  }
}

}  // namespace xlm
