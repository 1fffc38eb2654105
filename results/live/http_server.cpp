// The HTTP server: one thread, which waits for no connection. A stranger may connect, so each connection
// has little time and room before its request is whole.
#include "results/live/http_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <list>
#include <map>
#include <string_view>
#include <thread>

#include <fmt/format.h>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/text.h"

namespace xlm {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMaxConnections = 64;             // beyond, those that have not asked yet make room
constexpr std::size_t kMaxRequest = 16384;              // bytes of its first line and headers
constexpr std::chrono::seconds kTimeToAsk{5};           // for all of them
constexpr std::chrono::seconds kTimeWithoutTaking{60};  // a page has megabytes, and may go through a slow tunnel

/// "a%20b" becomes "a b", and in a query a plus becomes a space.
std::string decoded(std::string_view text, bool in_query) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned int byte = 0;
    const char* digits = text.data() + i + 1;
    const bool escaped =
        text[i] == '%' && i + 2 < text.size() && std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2;
    if (escaped) i += 2;
    plain += escaped ? static_cast<char>(byte) : in_query && text[i] == '+' ? ' ' : text[i];
  }
  return plain;
}

/// The value of a header; "" if there is none.
std::string header(std::string_view head, const char* name) {
  for (const std::string& line : split(head, '\n')) {
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos && ::strcasecmp(line.substr(0, colon).c_str(), name) == 0) {
      return std::string(trim(std::string_view(line).substr(colon + 1)));
    }
  }
  return "";
}

std::string_view reason_of(int status) {
  static const std::map<int, std::string_view> reasons{{200, "OK"},
                                                       {400, "Bad Request"},
                                                       {403, "Forbidden"},
                                                       {404, "Not Found"},
                                                       {405, "Method Not Allowed"},
                                                       {416, "Range Not Satisfiable"},
                                                       {431, "Request Header Fields Too Large"}};
  const auto found = reasons.find(status);
  return found == reasons.end() ? "Error" : found->second;
}

HttpResponse refusal(int status) {
  return {.status = status, .type = "text/plain", .body = std::string(reason_of(status)) + "\n"};
}

/// The bytes of a response. A browser may do nothing with it but show it, to this page alone.
std::string bytes_of(const HttpResponse& response, bool with_body) {
  std::string bytes = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n"
      "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n"
      "Referrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n",
      response.status, reason_of(response.status), response.type, response.body.size());
  if (response.status == 405) bytes += "Allow: GET, HEAD\r\n";
  if (!response.file_name.empty()) {
    bytes += fmt::format("Content-Disposition: attachment; filename=\"{}\"\r\n", response.file_name);
  }
  return bytes + "\r\n" + (with_body ? response.body : "");
}

/// What is answered to a request, whose first line and headers are `head`.
std::string answer_to(std::string_view head, const HttpHandler& handler) {
  const std::vector<std::string> words = split(head.substr(0, head.find("\r\n")), ' ');
  if (words.size() != 3 || !words[1].starts_with('/') || !words[2].starts_with("HTTP/1.")) {
    return bytes_of(refusal(400), true);
  }
  if (words[0] != "GET" && words[0] != "HEAD") return bytes_of(refusal(405), true);
  if (!header(head, "range").empty()) return bytes_of(refusal(416), true);  // a part of a page that changes
  const std::size_t mark = words[1].find('?');
  HttpRequest request{.host = header(head, "host"), .path = decoded(words[1].substr(0, mark), false), .query = {}};
  if (mark != std::string::npos) {
    for (const std::string& part : split(words[1].substr(mark + 1), '&')) {
      const std::size_t equal = std::min(part.find('='), part.size());
      const std::string value = equal < part.size() ? part.substr(equal + 1) : "";
      if (!part.empty()) request.query.emplace_back(decoded(part.substr(0, equal), true), decoded(value, true));
    }
  }
  return bytes_of(handler(request), words[0] == "GET");
}

struct Connection {
  explicit Connection(int descriptor) : socket(descriptor) {}

  Descriptor socket;
  std::string request;
  std::string answer;  // what is left of it
  std::size_t sent = 0;
  bool has_asked = false;
  Clock::time_point until = Clock::now() + kTimeToAsk;
};

class LoopbackServer : public HttpServer {
 public:
  LoopbackServer(int port, HttpHandler handler)
      : handler_(std::move(handler)),
        listening_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
        end_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    bind(port);
    thread_ = std::thread([this] { serve(); });
  }
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;
  ~LoopbackServer() override {
    ::eventfd_write(end_.get(), 1);
    thread_.join();
  }

  int port() const override { return port_; }

 private:
  void bind(int port) {
    const int yes = 1;
    ::setsockopt(listening_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_in address{};
    socklen_t size = sizeof address;
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listening_.get(), any, size) != 0 || ::listen(listening_.get(), SOMAXCONN) != 0 ||
        ::getsockname(listening_.get(), any, &size) != 0) {
      if (port == 0) throw Error(fmt::format("cannot listen on {}: the system gives no port", kLoopback));
      throw UsageError(
          fmt::format("cannot listen on port {}: another program has it, or it is not for users\n"
                      "leave --port out to take a free one",
                      port));
    }
    port_ = ntohs(address.sin_port);
  }

  void serve() {
    constexpr int kLongestWait = 1000;  // milliseconds between looks at times
    for (;;) {
      std::vector<pollfd> waiting{{end_.get(), POLLIN, 0}, {listening_.get(), POLLIN, 0}};
      for (const Connection& one : connections_) {
        waiting.push_back({one.socket.get(), static_cast<short>(one.has_asked ? POLLOUT : POLLIN), 0});
      }
      ::poll(waiting.data(), waiting.size(), kLongestWait);
      if (waiting[0].revents != 0) return;
      std::size_t place = 2;
      const Clock::time_point now = Clock::now();
      for (auto one = connections_.begin(); one != connections_.end(); ++place) {
        const bool stays = (waiting[place].revents == 0 || go_on(*one)) && now < one->until;
        one = stays ? std::next(one) : connections_.erase(one);
      }
      if (waiting[1].revents != 0) accept();
    }
  }

  void accept() {
    for (;;) {
      if (connections_.size() >= kMaxConnections && !make_room()) return;  // the others wait in the system's queue
      const int descriptor = ::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (descriptor < 0) return;
      connections_.emplace_back(descriptor);
      if (!go_on(connections_.back())) connections_.pop_back();
    }
  }

  /// Ends the oldest connection that has not asked yet.
  bool make_room() {
    const auto oldest = std::ranges::find_if(connections_, [](const Connection& one) { return !one.has_asked; });
    if (oldest == connections_.end()) return false;
    connections_.erase(oldest);
    return true;
  }

  /// Reads or writes what is possible. Returns whether the connection stays.
  bool go_on(Connection& one) {
    if (!one.has_asked && !read(one)) return false;
    return !one.has_asked || write(one);
  }

  bool read(Connection& one) {
    std::array<char, 4096> piece;
    while (!one.has_asked) {
      const ssize_t count = ::recv(one.socket.get(), piece.data(), piece.size(), 0);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
      one.request.append(piece.data(), static_cast<std::size_t>(count));
      const std::size_t end = one.request.find("\r\n\r\n");
      one.has_asked = end != std::string::npos || one.request.size() > kMaxRequest;
      if (!one.has_asked) continue;
      one.answer = std::min(end, one.request.size()) > kMaxRequest
                       ? bytes_of(refusal(431), true)
                       : answer_to(std::string_view(one.request).substr(0, end + 2), handler_);
      one.until = Clock::now() + kTimeWithoutTaking;
    }
    return true;
  }

  static bool write(Connection& one) {
    while (one.sent < one.answer.size()) {
      const ssize_t count =
          ::send(one.socket.get(), one.answer.data() + one.sent, one.answer.size() - one.sent, MSG_NOSIGNAL);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
      one.sent += static_cast<std::size_t>(count);
      one.until = Clock::now() + kTimeWithoutTaking;
    }
    return false;  // all of it is on its way
  }

  HttpHandler handler_;
  Descriptor listening_;
  Descriptor end_;
  int port_ = 0;
  std::list<Connection> connections_;  // the oldest first
  std::thread thread_;
};

}  // namespace

std::vector<std::string> HttpRequest::all(const std::string& key) const {
  std::vector<std::string> values;
  for (const auto& [name, value] : query) {
    if (name == key) values.push_back(value);
  }
  return values;
}

std::string HttpRequest::one(const std::string& key) const {
  const std::vector<std::string> values = all(key);
  return values.empty() ? "" : values.front();
}

std::unique_ptr<HttpServer> serve_http(int port, const HttpHandler& handler) {
  return std::make_unique<LoopbackServer>(port, handler);
}

}  // namespace xlm
