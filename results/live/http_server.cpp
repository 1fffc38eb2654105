// Opens libxlm_serve.so on first use.
#include "results/live/http_server.h"

#include "base/shared_library.h"

namespace xlm {

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
  using Make = HttpServer* (*)(int port, const HttpHandler& handler);
  static const auto make = reinterpret_cast<Make>(library_function("libxlm_serve.so", "xlm_serve_http"));
  return std::unique_ptr<HttpServer>(make(port, handler));
}

}  // namespace xlm
