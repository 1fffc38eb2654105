// How long runs train, in words.
#include "results/tables/run_lengths.h"

#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "results/quantities/number_format.h"

namespace xlm {
namespace {

/// "2,000", or "600,000 to 900,000".
template <class Number, class Format>
std::string range_of(const std::set<Number>& numbers, const Format& format) {
  const std::string low = format(*numbers.begin());
  const std::string high = format(*numbers.rbegin());
  return low == high ? low : low + " to " + high;
}

}  // namespace

void RunLengths::add(std::int64_t steps, double tokens) {
  steps_.insert(steps);
  tokens_.insert(tokens);
}

void RunLengths::add_budget(double flops, double seconds) {
  if (flops > 0) add(format_number(flops, NumberFormat::kCount, -1) + " FLOPs");
  if (seconds > 0) add(human_duration(seconds) + " of training");
}

std::string RunLengths::text() const {
  std::vector<std::string> parts(others_.begin(), others_.end());
  if (!steps_.empty()) {
    const auto count = [](double tokens) { return format_number(tokens, NumberFormat::kCount, -1); };
    const std::string steps = range_of(steps_, in_thousands) + " steps";
    const bool known = *tokens_.begin() > 0;
    parts.push_back(known ? fmt::format("{} ({} tokens)", steps, range_of(tokens_, count)) : steps);
  }
  return join(parts, ", ");
}

}  // namespace xlm
