// Reads ranges of keys, and draws from them.
#include "experiments/sweeps/key_range.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/options.h"
#include "base/random.h"
#include "base/text.h"

namespace xlm {
namespace {

constexpr double kLargestWhole = 9e15;

/// The range of a key.
struct RangeOptions {
  double low = std::numeric_limits<double>::quiet_NaN();
  double high = std::numeric_limits<double>::quiet_NaN();
  double step = 0;
  bool log = false;

  void visit(OptionVisitor& v) {
    v.field({.name = "low", .help = "the lowest value"}, low);
    v.field({.name = "high", .help = "the highest value"}, high);
    v.field({.name = "step", .help = "distance of the values", .min = 0}, step);
    v.field({.name = "log", .help = "all orders of magnitude are equally likely"}, log);
  }
};

bool is_written_whole(const Yaml& node, const char* name) {
  const Yaml* value = node.find(name);
  return value == nullptr || to_json(*value).is_number_integer();
}

KeyRange read_range(const std::string& name, const Yaml& node) {
  const auto options = options_in<RangeOptions>(node);
  for (const char* bound : {"low", "high"}) {
    if (node.find(bound) == nullptr) fail_at(node, fmt::format("the range of '{}' lacks '{}'", name, bound));
  }
  if (!std::isfinite(options.high - options.low)) {
    fail_at(node, fmt::format("the range of '{}' must have finite bounds", name));
  }
  if (options.low > options.high) {
    fail_at(node, fmt::format("the range of '{}' is empty: {} is above {}", name, options.low, options.high));
  }
  if (options.log && options.low <= 0) {
    fail_at(node, fmt::format("the range of '{}' has log: true, which needs low above 0", name));
  }
  if (options.step > 0 && (options.high - options.low) / options.step > kLargestWhole) {
    fail_at(node, fmt::format("the step of '{}' is too small for its range", name));
  }
  if (options.log && options.step > 0) {
    fail_at(node, fmt::format("the range of '{}' has log and step; it takes one of them", name));
  }
  KeyRange key{
      .name = name,
      .choices = {},
      .low = options.low,
      .high = options.high,
      .step = options.step,
      .log = options.log,
      .whole = is_written_whole(node, "low") && is_written_whole(node, "high") && is_written_whole(node, "step")};
  if (key.whole && (std::abs(key.low) > kLargestWhole || key.high > kLargestWhole)) {
    fail_at(node, fmt::format("the range of '{}' goes beyond whole numbers of 53 bits", name));
  }
  if (key.whole && key.high - key.low == 1) {
    fail_at(node, fmt::format("the range of '{0}' has only two whole numbers\nfor real numbers write low: {1}.0, high: "
                              "{2}.0; for the two a list: [{1}, {2}]",
                              name, static_cast<std::int64_t>(key.low), static_cast<std::int64_t>(key.high)));
  }
  return key;
}

}  // namespace

KeyRange read_key_range(const std::string& name, const Yaml& node) {
  if (node.is_sequence()) {
    if (node.items.empty()) fail_at(node, fmt::format("the list of choices of '{}' is empty", name));
    return {.name = name, .choices = node.items};
  }
  if (!node.is_map()) {
    fail_at(
        node,
        fmt::format("'{}' must be a range, such as {{low: 0.001, high: 0.1, log: true}}, or a list of choices", name));
  }
  return read_range(name, node);
}

namespace {

/// Six, and more where these would leave fewer than ten thousand values of a narrow range.
int digits_of_range(const KeyRange& key) {
  constexpr int kDigits = 6;
  constexpr int kAllDigits = 17;
  constexpr double kValues = 1e4;
  const double digits_of_width = std::log10(std::max(std::abs(key.low), std::abs(key.high)) / (key.high - key.low));
  return std::clamp(static_cast<int>(std::ceil(digits_of_width + std::log10(kValues))), kDigits, kAllDigits);
}

}  // namespace

Yaml value_of_key(const KeyRange& key, double value, const std::string& source) {
  if (!key.choices.empty()) {
    const auto last = static_cast<double>(key.choices.size() - 1);
    return key.choices[static_cast<std::size_t>(std::clamp(value, 0.0, last))];
  }
  const double inside = std::clamp(value, key.low, key.high);
  if (key.whole) return make_scalar(std::to_string(std::llround(inside)), source);
  if (key.low == key.high) return make_scalar(fmt::format("{}", inside), source);
  if (key.step > 0) {  // a step of decimals has their digits
    const double value_of_step = key.low + std::round((inside - key.low) / key.step) * key.step;
    const bool is_zero = std::abs(value_of_step) < key.step * 1e-9;
    return make_scalar(fmt::format("{:.12g}", is_zero ? 0.0 : value_of_step), source);
  }
  const std::string text = fmt::format("{:.{}g}", inside, digits_of_range(key));
  double rounded = 0;
  parse_real(text, rounded);
  if (key.low <= rounded && rounded <= key.high) return make_scalar(text, source);
  return make_scalar(fmt::format("{}", std::clamp(rounded, key.low, key.high)), source);
}

double random_value(const KeyRange& key, std::uint64_t bits) {
  if (!key.choices.empty()) return static_cast<double>(random_below(std::ssize(key.choices), bits));
  const double unit = random_unit(bits);
  if (key.log && key.whole) {  // each number has the share of what is rounded to it
    const double from = key.low - 0.5;
    return std::clamp(std::round(from * std::pow((key.high + 0.5) / from, unit)), key.low, key.high);
  }
  if (key.log) return key.low * std::pow(key.high / key.low, unit);
  const double step = key.step > 0 ? key.step : key.whole ? 1 : 0;
  if (step == 0) return key.low + unit * (key.high - key.low);
  const double steps = std::floor((key.high - key.low) / step * (1 + 1e-12));  // 0.3 has three of 0.1
  return key.low + static_cast<double>(random_below(static_cast<std::int64_t>(steps) + 1, bits)) * step;
}

}  // namespace xlm
