// The origin of a result.
#include "experiments/runs/origin.h"

#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "experiments/programs/program_environment.h"

namespace xlm {
namespace {

std::string text_of(const Json& origin, const char* key) {
  const auto found = origin.find(key);
  return found != origin.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string program_of(const Json& origin) {
  const std::string core = text_of(origin, "core_sha256");
  return fmt::format("xlm {} ({}{})", text_of(origin, "xlm"), text_of(origin, "commit"),
                     core.empty() ? "" : ", core " + core.substr(0, 8));
}

bool same_program(const Json& a, const Json& b) {
  if (!text_of(a, "core_sha256").empty() && !text_of(b, "core_sha256").empty()) {
    return text_of(a, "core_sha256") == text_of(b, "core_sha256");
  }
  return text_of(a, "xlm") == text_of(b, "xlm") && text_of(a, "commit") == text_of(b, "commit");
}

}  // namespace

Json origin_of(const Json& environment) {
  Json origin = Json::object();
  if (const auto program = environment.find("program"); program != environment.end()) {
    origin["program"] = *program;
  } else {
    for (const char* key : {"xlm", "commit", "core_sha256"}) {
      if (const std::string text = text_of(environment, key); !text.empty()) origin[key] = text;
    }
  }
  const std::string device = text_of(environment, "device");  // cuda:1
  if (!device.empty()) origin["device"] = device.substr(0, device.find(':'));
  return origin;
}

std::string changed_origin(const Json& first, const Json& now) {
  std::vector<std::string> changes;
  const std::string device = text_of(first, "device");
  if (!device.empty() && device != text_of(now, "device")) {
    changes.push_back(fmt::format("on {} and would resume on {}", device, text_of(now, "device")));
  }
  if (const auto program = first.find("program"); program != first.end()) {
    const std::string packages = changed_packages(*program, now.value("program", Json::object()));
    if (!packages.empty()) changes.push_back("with other packages: " + packages);
  } else if (!same_program(first, now)) {
    changes.push_back(fmt::format("with {} and would resume with {}", program_of(first), program_of(now)));
  }
  return join(changes, "; ");
}

}  // namespace xlm
