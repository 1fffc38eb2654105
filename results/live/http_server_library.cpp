// libxlm_serve.so: the HTTP server, with cpp-httplib.
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <httplib.h>

#include "base/error.h"
#include "results/live/http_server.h"

namespace xlm {
namespace {

constexpr std::size_t kThreads = 8;  // a browser opens up to six connections
constexpr std::size_t kMaxBody = 1024;
constexpr std::time_t kKeepSeconds = 1;  // an idle connection holds a thread, and delays the end of the program
constexpr std::size_t kRequestsOfConnection = 1000;
constexpr std::time_t kReadSeconds = 5;
constexpr std::time_t kWriteSeconds = 60;  // a page has megabytes, and may go through a slow tunnel

/// With the library's own option SO_REUSEPORT two servers of one user would share a port.
void set_reuse_of_address(socket_t listening) {
  const int yes = 1;
  ::setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
}

/// What a browser may do with any response: nothing but show it, to this page alone.
httplib::Headers common_headers() {
  return {{"Cache-Control", "no-store"},
          {"X-Content-Type-Options", "nosniff"},
          {"X-Frame-Options", "DENY"},
          {"Referrer-Policy", "no-referrer"},
          {"Cross-Origin-Resource-Policy", "same-origin"}};
}

/// Puts in a body of known length. The library compresses other bodies, which takes seconds for a page.
void put_body(httplib::Response& out, std::string body, const std::string& type) {
  if (body.empty()) return;
  const auto shared = std::make_shared<const std::string>(std::move(body));
  out.set_content_provider(shared->size(), type,
                           [shared](std::size_t offset, std::size_t length, httplib::DataSink& sink) {
                             if (offset >= shared->size()) return false;
                             const std::string_view part = std::string_view(*shared).substr(offset, length);
                             return sink.write(part.data(), part.size());
                           });
}

class LoopbackServer : public HttpServer {
 public:
  LoopbackServer(int port, HttpHandler handler) : handler_(std::move(handler)) {
    server_.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
    server_.set_socket_options(set_reuse_of_address);
    server_.set_tcp_nodelay(true);
    server_.set_keep_alive_timeout(kKeepSeconds);
    server_.set_keep_alive_max_count(kRequestsOfConnection);
    server_.set_read_timeout(kReadSeconds);
    server_.set_write_timeout(kWriteSeconds);
    server_.set_payload_max_length(kMaxBody);
    server_.set_default_headers(common_headers());
    // The library finds handlers by regular expressions. All requests come here first, so it has none.
    server_.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      respond(request, response);
      return httplib::Server::HandlerResponse::Handled;
    });
    bind(port);
    thread_ = std::thread([this] {
      server_.listen_after_bind();
      ended_ = true;
    });
    while (!server_.is_running() && !ended_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;
  ~LoopbackServer() override {
    server_.stop();
    thread_.join();
  }

  int port() const override { return port_; }

 private:
  void bind(int port) {
    if (port == 0) {
      port_ = server_.bind_to_any_port(kLoopback);
      if (port_ <= 0) throw Error(fmt::format("cannot listen on {}: the system gives no port", kLoopback));
      return;
    }
    port_ = port;
    if (server_.bind_to_port(kLoopback, port)) return;
    throw UsageError(
        fmt::format("cannot listen on port {}: another program has it, or it is not for users\n"
                    "leave --port out to take a free one",
                    port));
  }

  void respond(const httplib::Request& request, httplib::Response& out) const {
    if (request.method != "GET" && request.method != "HEAD") {
      out.status = 405;
      out.set_header("Allow", "GET, HEAD");
      out.set_header("Connection", "close");  // what it sent is not read
      return put_body(out, "only GET and HEAD\n", "text/plain; charset=utf-8");
    }
    if (!request.ranges.empty()) {  // a part of a page that changes is of no use
      out.status = 416;
      return;
    }
    HttpRequest asked{.host = request.get_header_value("Host"), .path = request.path, .query = {}};
    for (const auto& [key, value] : request.params) asked.query.emplace_back(key, value);
    HttpResponse response = handler_(asked);
    out.status = response.status;
    if (!response.file_name.empty()) {
      out.set_header("Content-Disposition", fmt::format("attachment; filename=\"{}\"", response.file_name));
    }
    put_body(out, std::move(response.body), response.type + "; charset=utf-8");
  }

  HttpHandler handler_;
  httplib::Server server_;
  int port_ = 0;
  std::atomic<bool> ended_ = false;
  std::thread thread_;
};

}  // namespace
}  // namespace xlm

extern "C" __attribute__((visibility("default"))) xlm::HttpServer* xlm_serve_http(int port,
                                                                                  const xlm::HttpHandler& handler) {
  return new xlm::LoopbackServer(port, handler);
}
