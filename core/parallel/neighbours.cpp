// The connections of a process to its two neighbours.
//
// The next process listens, this one calls it. "caller" and "listener" below are the two roles of a connection:
//   caller:    greeting, nonce
//   listener:  nonce, proof of the listener
//   caller:    proof of the caller
//   listener:  welcome
// A proof is an HMAC with the run's secret over the role, the address that the caller called, its rank, and both
// nonces. So a proof cannot be replayed, sent back to its maker, or passed on by a process in between.
#include "core/parallel/neighbours.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/secret.h"

namespace xlm {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::string_view kGreeting = "xlm-ring";
constexpr std::string_view kWelcome = "+";
constexpr std::size_t kHello = kGreeting.size() + kSecretLength;  // greeting and nonce
constexpr std::size_t kReply = 2 * kSecretLength;                 // nonce and proof
constexpr std::chrono::seconds kConversation{10};                 // until a caller must have proved itself
constexpr std::size_t kMaxCallers = 64;                           // at once; a further one replaces the oldest
constexpr int kMeetingPoll = 20;                                  // milliseconds
constexpr short kReadable = POLLIN;
constexpr short kWritable = POLLOUT;
constexpr std::uintmax_t kLongestPlace = 128;
constexpr int kSocketKind = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;

struct Address {
  sockaddr_storage bytes{};
  socklen_t size = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&bytes); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&bytes); }
};

/// In Linux's abstract namespace: it is on no file system, needs no network, and ends with its socket.
Address unix_address(const std::string& name) {
  Address address;
  auto* unix_name = reinterpret_cast<sockaddr_un*>(&address.bytes);
  unix_name->sun_family = AF_UNIX;
  std::copy(name.begin(), name.end(), unix_name->sun_path + 1);
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

/// The address in "HOST PORT", both numeric; nullopt for any other text.
std::optional<Address> tcp_address(const std::string& place) {
  const std::size_t space = place.find(' ');
  if (space == std::string::npos) return std::nullopt;
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (::getaddrinfo(place.substr(0, space).c_str(), place.substr(space + 1).c_str(), &wanted, &found) != 0)
    return std::nullopt;
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, &::freeaddrinfo);
  Address address;
  std::memcpy(&address.bytes, found->ai_addr, found->ai_addrlen);
  address.size = found->ai_addrlen;
  return address;
}

/// The system notices when another machine is gone. It answers for a halted process, too.
void prepare_tcp(const Socket& socket) {
  const auto set = [&](int level, int option, int value) {
    ::setsockopt(socket.descriptor(), level, option, &value, sizeof value);
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 60);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 15);
  set(IPPROTO_TCP, TCP_KEEPCNT, 8);
}

/// Whether the process at the other end of a Unix socket belongs to this user.
bool is_of_this_user(const Socket& socket) {
  ucred other{};
  socklen_t size = sizeof other;
  return ::getsockopt(socket.descriptor(), SOL_SOCKET, SO_PEERCRED, &other, &size) == 0 && other.uid == ::geteuid();
}

enum class Standing { kOpen, kProved, kFailed };

/// A connection until both sides have proved themselves.
struct Conversation {
  Socket socket;
  std::string nonce = fresh_secret();
  std::string heard = {};
  int said = 0;  // messages
  SteadyClock::time_point end = SteadyClock::now() + kConversation;

  bool say(const std::string& message) {  // far less than a new connection can buffer
    ++said;
    return ::send(socket.descriptor(), message.data(), message.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(message.size());
  }

  /// Receives at most `bytes` in all; returns false if the other side has closed.
  bool hear(std::size_t bytes) {
    std::array<char, kHello + kReply> buffer{};
    const ssize_t count = ::recv(socket.descriptor(), buffer.data(), std::min(bytes - heard.size(), buffer.size()), 0);
    if (count > 0) heard.append(buffer.data(), static_cast<std::size_t>(count));
    return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
  }
};

class Meeting {
 public:
  explicit Meeting(const Processes& self)
      : self_(self),
        previous_((self.rank + self.count - 1) % self.count),
        next_((self.rank + 1) % self.count),
        end_(SteadyClock::now() + std::chrono::milliseconds(static_cast<std::int64_t>(self.patience * 1000))) {
    if (self.secret.size() != kSecretLength) throw Error("the processes of a run have no secret to know each other by");
    listen();
  }

  Neighbours wait() {
    while (!found_.previous.is_open() || !found_.next.is_open()) {
      wait_for_news();
      if (!found_.previous.is_open()) hear_callers();
      if (!found_.next.is_open()) call();
      if (self_.is_to_leave()) throw LostProcessError("one of them has ended, or was asked to stop");
      if (SteadyClock::now() > end_) throw LostProcessError(who_is_missing());
    }
    return std::move(found_);
  }

 private:
  bool is_local() const { return self_.address.empty(); }
  fs::path place_file(std::int64_t rank) const { return self_.meeting / fmt::format("address.{}", rank); }

  /// The address at which the next process listens; "" if it is not known yet.
  std::string place_of_next() const {
    if (is_local()) return unix_name(next_);
    std::error_code ignored;
    return fs::exists(place_file(next_), ignored) ? read_file(place_file(next_), kLongestPlace) : "";
  }

  /// Another process cannot guess the name, and so cannot take it first.
  std::string unix_name(std::int64_t rank) const {
    return "xlm-" + proof(self_.secret, fmt::format("name {}", rank)).substr(0, kSecretLength / 2);
  }

  std::optional<Address> address_of(const std::string& place) const {
    return is_local() ? unix_address(place) : tcp_address(place);
  }

  void listen() {
    own_place_ = is_local() ? unix_name(self_.rank) : self_.address + " 0";
    const std::optional<Address> wanted = address_of(own_place_);
    if (!wanted) throw Error(fmt::format("'{}' is no address", self_.address));
    listener_ = Socket(::socket(wanted->bytes.ss_family, kSocketKind, 0));
    Address own;
    own.size = sizeof own.bytes;
    if (!listener_.is_open() || ::bind(listener_.descriptor(), wanted->get(), wanted->size) != 0 ||
        ::listen(listener_.descriptor(), static_cast<int>(kMaxCallers)) != 0 ||
        ::getsockname(listener_.descriptor(), own.get(), &own.size) != 0) {
      throw Error(fmt::format("process {} of {} cannot be reached by the others{}: {}", self_.rank + 1, self_.count,
                              is_local() ? "" : " at " + self_.address, std::strerror(errno)));
    }
    if (is_local()) return;
    std::array<char, NI_MAXSERV> port{};
    ::getnameinfo(own.get(), own.size, nullptr, 0, port.data(), port.size(), NI_NUMERICSERV);
    own_place_ = fmt::format("{} {}", self_.address, port.data());
    write_file(place_file(self_.rank), own_place_);
  }

  void wait_for_news() const {
    std::vector<pollfd> ends;
    if (listener_.is_open()) ends.push_back({listener_.descriptor(), POLLIN, 0});
    for (const Conversation& caller : callers_) ends.push_back({caller.socket.descriptor(), POLLIN, 0});
    if (call_) ends.push_back({call_->socket.descriptor(), call_->said == 0 ? kWritable : kReadable, 0});
    ::poll(ends.data(), ends.size(), kMeetingPoll);
  }

  void hear_callers() {
    accept_callers();
    for (auto caller = callers_.begin(); caller != callers_.end();) {
      const Standing state = hear(*caller);
      if (state == Standing::kProved) {
        found_.previous = std::move(caller->socket);
        callers_.clear();
        listener_ = Socket();
        return;
      }
      const bool goes = state == Standing::kFailed || SteadyClock::now() > caller->end;
      if (goes) ++sent_away_;
      caller = goes ? callers_.erase(caller) : std::next(caller);
    }
  }

  void accept_callers() {
    for (std::size_t i = 0; i < kMaxCallers; ++i) {
      Socket socket(::accept4(listener_.descriptor(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!socket.is_open()) return;
      if (is_local() && !is_of_this_user(socket)) {
        ++sent_away_;
        continue;
      }
      if (!is_local()) prepare_tcp(socket);
      callers_.push_back({.socket = std::move(socket)});
      if (callers_.size() <= kMaxCallers) continue;
      callers_.pop_front();
      ++sent_away_;
    }
  }

  Standing hear(Conversation& caller) const {
    if (!caller.hear(caller.said == 0 ? kHello : kHello + kSecretLength)) return Standing::kFailed;
    if (caller.heard.size() < kHello) return Standing::kOpen;
    const std::string_view heard = caller.heard;
    const auto expected = [&](const char* role) {
      return proof_of(role, own_place_, previous_, heard.substr(kGreeting.size(), kSecretLength), caller.nonce);
    };
    if (caller.said == 0) {
      const bool greeted = heard.starts_with(kGreeting);
      return greeted && caller.say(caller.nonce + expected("listener")) ? Standing::kOpen : Standing::kFailed;
    }
    if (heard.size() < kHello + kSecretLength) return Standing::kOpen;
    const bool proved = same_proof(heard.substr(kHello), expected("caller"));
    return proved && caller.say(std::string(kWelcome)) ? Standing::kProved : Standing::kFailed;
  }

  /// Calls the next process repeatedly until it has proved itself.
  void call() {
    if (!call_) call_ = new_call();
    if (!call_) return;
    const Standing state = go_on(*call_);
    if (state == Standing::kProved) found_.next = std::move(call_->socket);
    if (SteadyClock::now() > call_->end) trouble_ = "it was silent";
    if (state != Standing::kOpen || SteadyClock::now() > call_->end) call_.reset();
  }

  std::optional<Conversation> new_call() {
    called_place_ = place_of_next();
    if (called_place_.empty()) return std::nullopt;
    const std::optional<Address> address = address_of(called_place_);
    if (!address) {
      trouble_ = "that is no address";
      return std::nullopt;
    }
    Socket socket(::socket(address->bytes.ss_family, kSocketKind, 0));
    const bool called = socket.is_open() &&
                        (::connect(socket.descriptor(), address->get(), address->size) == 0 || errno == EINPROGRESS);
    if (!called) {
      trouble_ = std::strerror(errno);
      return std::nullopt;
    }
    if (!is_local()) prepare_tcp(socket);
    return Conversation{.socket = std::move(socket)};
  }

  Standing go_on(Conversation& call) {
    if (call.said == 0) return greet(call);
    if (!call.hear(call.said == 1 ? kReply : kReply + kWelcome.size())) return failed("it closed the connection");
    if (call.heard.size() < kReply) return Standing::kOpen;
    const std::string_view heard = call.heard;
    if (call.said == 1) {
      const auto expected = [&](const char* role) {
        return proof_of(role, called_place_, self_.rank, call.nonce, heard.substr(0, kSecretLength));
      };
      if (!same_proof(heard.substr(kSecretLength), expected("listener"))) {
        return failed("what answers there does not know the secret of this run");
      }
      return call.say(expected("caller")) ? Standing::kOpen : failed("it closed the connection");
    }
    if (heard.size() == kReply) return Standing::kOpen;
    return heard.substr(kReply) == kWelcome ? Standing::kProved : failed("it does not speak as this program does");
  }

  Standing greet(Conversation& call) {
    pollfd end{call.socket.descriptor(), kWritable, 0};
    if (::poll(&end, 1, 0) == 0) return Standing::kOpen;
    int error_number = 0;
    socklen_t size = sizeof error_number;
    ::getsockopt(call.socket.descriptor(), SOL_SOCKET, SO_ERROR, &error_number, &size);
    if (error_number != 0) return failed(std::strerror(error_number));
    return call.say(std::string(kGreeting) + call.nonce) ? Standing::kOpen : failed("it closed the connection");
  }

  Standing failed(const std::string& trouble) {
    trouble_ = trouble;
    return Standing::kFailed;
  }

  std::string proof_of(const char* role, const std::string& place, std::int64_t caller,
                       std::string_view nonce_of_caller, std::string_view nonce_of_listener) const {
    return proof(self_.secret, fmt::format("{} {} {} of {} {}{}", role, place, caller, self_.count, nonce_of_caller,
                                           nonce_of_listener));
  }

  std::string who_is_missing() const {
    std::string text = fmt::format("not all came within {:g} s", self_.patience);
    if (!found_.previous.is_open()) text += fmt::format("; process {} did not call", previous_ + 1);
    if (!found_.next.is_open()) {
      text += fmt::format("; process {} did not answer", next_ + 1);
      if (!trouble_.empty()) text += fmt::format(" ({}{})", is_local() ? "" : called_place_ + ": ", trouble_);
    }
    if (sent_away_ > 0) text += fmt::format("; strangers sent away: {}", sent_away_);
    return text;
  }

  const Processes& self_;
  std::int64_t previous_;
  std::int64_t next_;
  SteadyClock::time_point end_;
  Socket listener_;
  std::string own_place_;
  std::list<Conversation> callers_;
  std::optional<Conversation> call_;
  std::string called_place_;
  std::string trouble_;  // of the last call that failed
  std::int64_t sent_away_ = 0;
  Neighbours found_;
};

}  // namespace

Socket::~Socket() {
  if (is_open()) ::close(descriptor_);
}

Neighbours find_neighbours(const Processes& self) { return Meeting(self).wait(); }

}  // namespace xlm
