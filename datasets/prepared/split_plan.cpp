// The division of a text into training, validation and test.
#include "datasets/prepared/split_plan.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace xlm {
namespace {

constexpr std::int64_t kMillionth = 1'000'000;  // shares are kept in millionths of a percent: exact up to six digits

bool parse_share(std::string_view text, std::int64_t& millionths) {
  double percent = 0;
  if (!parse_real(text, percent) || percent < 0 || percent > 100) return false;
  millionths = std::llround(percent * static_cast<double>(kMillionth));
  return true;
}

}  // namespace

SplitPlan::SplitPlan(const std::string& text) {
  const auto bad = [&](const std::string& why) {
    return UsageError(
        fmt::format("--split {}: {}\ngive three counts (4000000,200000,200000) or shares (90%,5%,5%) for "
                    "training, validation and test",
                    text, why));
  };
  const std::vector<std::string> words = split(text, ',');
  if (words.size() != parts_.size()) throw bad(fmt::format("{} parts instead of three", words.size()));
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    std::string_view word = trim(words[i]);
    const bool share = word.ends_with('%');
    if (i > 0 && share != shares_) throw bad("counts and shares are mixed");
    shares_ = share;
    if (share) word.remove_suffix(1);
    const bool good = share ? parse_share(word, parts_[i]) : parse_integer(word, parts_[i]) && parts_[i] >= 0;
    if (!good) throw bad(fmt::format("'{}' is not a {}", words[i], share ? "share" : "count"));
  }
  if (shares_ && std::accumulate(parts_.begin(), parts_.end(), std::int64_t{0}) != 100 * kMillionth) {
    throw bad("the shares must add up to 100 %");
  }
  if (parts_ == decltype(parts_){}) throw bad("all three are empty");
}

SplitSizes SplitPlan::sizes(std::int64_t tokens) const {
  if (shares_) {
    constexpr std::int64_t kWhole = 100 * kMillionth;
    const auto part = [&](std::int64_t millionths) {  // in two steps: the plain product could overflow
      return tokens / kWhole * millionths + tokens % kWhole * millionths / kWhole;
    };
    const std::int64_t valid = part(parts_[1]);
    const std::int64_t test = part(parts_[2]);
    return {tokens - valid - test, valid, test};
  }
  std::int64_t left = tokens;
  for (const std::int64_t part : parts_) {
    if (part > left) {
      throw UsageError(
          fmt::format("--split {} is longer than the text, which has {} tokens\ngive smaller counts, or shares "
                      "such as 90%,5%,5%",
                      text(), tokens));
    }
    left -= part;
  }
  return parts_;
}

std::optional<SplitSizes> SplitPlan::documents(std::int64_t count) const {
  if (!shares_) return std::nullopt;
  SplitSizes sizes{count, 0, 0};
  for (const std::size_t split : {1U, 2U}) {
    if (parts_.at(split) == 0) continue;
    const double share = static_cast<double>(parts_.at(split)) / (100.0 * static_cast<double>(kMillionth));
    sizes.at(split) = std::max<std::int64_t>(1, std::llround(share * static_cast<double>(count)));
    sizes[0] -= sizes.at(split);
  }
  if (sizes[0] < (parts_[0] > 0 ? 1 : 0)) return std::nullopt;
  return sizes;
}

bool SplitPlan::suits(std::int64_t documents) const {
  return shares_ && std::ranges::all_of(parts_, [&](std::int64_t part) {
           return part == 0 || static_cast<double>(part) * static_cast<double>(documents) >= 100.0 * kMillionth;
         });
}

std::string SplitPlan::text() const {
  std::vector<std::string> words;
  for (const std::int64_t part : parts_) {
    words.push_back(shares_ ? fmt::format("{}%", static_cast<double>(part) / static_cast<double>(kMillionth))
                            : fmt::format("{}", part));
  }
  return join(words, ",");
}

}  // namespace xlm
