// A small HTTP server for this machine alone. Who has not asked yet can neither keep it from others nor fill its
// memory.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace xlm {

/// A request to read something: GET or HEAD. All others get a response without the handler.
struct HttpRequest {
  std::string host;                                        // of its header Host, as it was sent
  std::string path;                                        // decoded, without the query
  std::vector<std::pair<std::string, std::string>> query;  // decoded; values of one key in their order

  std::vector<std::string> all(const std::string& key) const;
  /// The first of them; empty if there is none.
  std::string one(const std::string& key) const;
};

struct HttpResponse {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::string file_name{};  // a browser saves the body under this name; empty: it shows the body
};

/// Called by the server's thread. It throws nothing.
using HttpHandler = std::function<HttpResponse(const HttpRequest& request)>;

/// A server that runs until it is destroyed. Its destructor waits for the handler, but for no connection.
class HttpServer {
 public:
  virtual ~HttpServer() = default;

  virtual int port() const = 0;
};

/// The address that a server listens on. Only programs on this machine can connect to it.
inline constexpr const char* kLoopback = "127.0.0.1";

/// Starts a server. `port` 0 takes any free one. Throws UsageError for a port that is taken, and Error if the system
/// gives none.
std::unique_ptr<HttpServer> serve_http(int port, const HttpHandler& handler);

}  // namespace xlm
