// What a preparation skipped.
#include "datasets/input/passed_over.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace xlm {

void PassedOver::add(const std::string& kind, const std::string& name, std::int64_t count) {
  constexpr std::size_t kMaxNames = 3;
  auto found = std::find_if(kinds_.begin(), kinds_.end(), [&](const Kind& known) { return known.kind == kind; });
  if (found == kinds_.end()) found = kinds_.insert(found, Kind{.kind = kind, .count = 0, .names = {}});
  found->count += count;
  if (found->names.size() < kMaxNames) {
    found->names.push_back(printable(name));
  } else if (found->names.size() == kMaxNames) {
    found->names.emplace_back("…");
  }
}

std::string PassedOver::text() const {
  std::vector<std::string> parts;
  for (const Kind& kind : kinds_)
    parts.push_back(fmt::format("{}: {} ({})", kind.kind, kind.count, join(kind.names, ", ")));
  return join(parts, "; ");
}

}  // namespace xlm
