// A small HTTP client for tests. Each request has a separate connection.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace xlm {

struct HttpAnswer {
  int status = 0;    // 0: the server did not answer
  std::string head;  // status line and headers
  std::string body;
};

/// What a server on this machine sends until it closes the connection; empty if there is none.
inline std::string answer_to(int port, std::string_view request) {
  const int connection = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string answer;
  if (::connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    while (!request.empty()) {
      const ssize_t sent = ::send(connection, request.data(), request.size(), MSG_NOSIGNAL);
      if (sent <= 0) break;
      request.remove_prefix(static_cast<std::size_t>(sent));
    }
    std::array<char, 65536> buffer;
    for (ssize_t got = 0; (got = ::recv(connection, buffer.data(), buffer.size(), 0)) > 0;) {
      answer.append(buffer.data(), static_cast<std::size_t>(got));
    }
  }
  ::close(connection);
  return answer;
}

inline HttpAnswer http_ask(int port, const std::string& method, const std::string& path,
                           const std::string& headers = "Host: 127.0.0.1\r\n") {
  const std::string text =
      answer_to(port, method + " " + path + " HTTP/1.1\r\n" + headers + "Connection: close\r\n\r\n");
  const std::size_t end = text.find("\r\n\r\n");
  if (!text.starts_with("HTTP/1.1 ") || end == std::string::npos) return {.status = 0, .head = text, .body = ""};
  return {.status = std::stoi(text.substr(9, 3)), .head = text.substr(0, end + 2), .body = text.substr(end + 4)};
}

inline HttpAnswer http_get(int port, const std::string& path) { return http_ask(port, "GET", path); }

/// Connections of a stranger, who knows no token and sends this.
class Strangers {
 public:
  Strangers(int port, std::size_t count, std::string_view request) {
    for (std::size_t i = 0; i < count; ++i) {
      sockets_.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_port = htons(static_cast<std::uint16_t>(port));
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      EXPECT_EQ(::connect(sockets_.back(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
      ::send(sockets_.back(), request.data(), request.size(), MSG_NOSIGNAL);
    }
  }
  Strangers(const Strangers&) = delete;
  Strangers& operator=(const Strangers&) = delete;
  ~Strangers() {
    for (const int socket : sockets_) ::close(socket);
  }

  /// Sends until the server closes a connection; the bytes that it took.
  std::size_t send_on(const std::string& piece, std::size_t most) const {
    std::size_t sent = 0;
    while (sent < most) {
      const ssize_t count = ::send(sockets_.front(), piece.data(), piece.size(), MSG_NOSIGNAL);
      if (count <= 0) break;
      sent += static_cast<std::size_t>(count);
    }
    return sent;
  }

 private:
  std::vector<int> sockets_;
};

}  // namespace xlm
