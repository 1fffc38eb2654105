// An HTTP server for tests, on a free port, that can misbehave as servers and networks do.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

namespace xlm {

class HttpServer {
 public:
  struct Request {
    std::string path;
    std::int64_t begin = -1;  // of "Range: bytes=BEGIN-"; -1: the whole file
    std::string if_range;
    std::string authorization;
  };
  struct Answer {
    int status = 200;
    std::string body;
    std::vector<std::string> headers;
    std::size_t cut_after = std::string::npos;  // the connection breaks after so many bytes of the body
  };
  using Handler = std::function<Answer(const Request&)>;

  explicit HttpServer(Handler handler) : handler_(std::move(handler)), socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address));
    ::listen(socket_, 16);
    socklen_t length = sizeof(address);
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &length);
    port_ = ntohs(address.sin_port);
    ::setenv("no_proxy", "127.0.0.1", 1);  // overrides the environment of this process and its children
    thread_ = std::thread([this] { serve(); });
  }
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer() {
    stopped_ = true;
    ::shutdown(socket_, SHUT_RDWR);
    thread_.join();
    ::close(socket_);
  }

  std::string url(const std::string& path = "") const { return fmt::format("http://127.0.0.1:{}{}", port_, path); }
  std::vector<Request> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

  /// The answer of a server that supports ranges.
  static Answer part_of(const std::string& content, const Request& request) {
    if (request.begin < 0) return {.body = content};
    const auto begin = static_cast<std::size_t>(request.begin);
    if (begin >= content.size()) {
      return {.status = 416, .headers = {fmt::format("Content-Range: bytes */{}", content.size())}};
    }
    return {.status = 206,
            .body = content.substr(begin),
            .headers = {fmt::format("Content-Range: bytes {}-{}/{}", begin, content.size() - 1, content.size())}};
  }

 private:
  void serve() {
    while (!stopped_) {
      const int connection = ::accept(socket_, nullptr, nullptr);
      if (connection < 0) break;
      answer(connection);
      ::close(connection);
    }
  }

  void answer(int connection) {
    std::string text;
    char buffer[4096];
    while (text.find("\r\n\r\n") == std::string::npos) {
      const ssize_t count = ::recv(connection, buffer, sizeof(buffer), 0);
      if (count <= 0) return;
      text.append(buffer, static_cast<std::size_t>(count));
    }
    const Request request = parse(text);
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
    }
    const Answer answer = handler_(request);
    std::string head =
        fmt::format("HTTP/1.1 {} X\r\nContent-Length: {}\r\nConnection: close\r\n", answer.status, answer.body.size());
    for (const std::string& header : answer.headers) head += header + "\r\n";
    send_all(connection, head + "\r\n" + answer.body.substr(0, answer.cut_after));
  }

  static Request parse(const std::string& text) {
    Request request;
    request.path = text.substr(4, text.find(' ', 4) - 4);
    request.if_range = header(text, "If-Range: ");
    request.authorization = header(text, "Authorization: ");
    const std::string range = header(text, "Range: bytes=");
    if (!range.empty()) request.begin = std::stoll(range);
    return request;
  }

  static std::string header(const std::string& text, const std::string& name) {
    const std::size_t begin = text.find("\r\n" + name);
    if (begin == std::string::npos) return "";
    const std::size_t value = begin + 2 + name.size();
    return text.substr(value, text.find("\r\n", value) - value);
  }

  static void send_all(int connection, const std::string& bytes) {
    for (std::size_t sent = 0; sent < bytes.size();) {
      const ssize_t count = ::send(connection, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) return;
      sent += static_cast<std::size_t>(count);
    }
  }

  Handler handler_;
  int socket_;
  int port_ = 0;
  std::atomic<bool> stopped_{false};
  mutable std::mutex mutex_;
  std::vector<Request> requests_;
  std::thread thread_;
};

}  // namespace xlm
