// Patterns by RE2. Its group names cannot have dots, so that groups get numbered names here, and ours are kept apart.
#include "experiments/programs/line_pattern.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/error.h"
#include "base/utf8.h"
#include "experiments/programs/quantity_name.h"

namespace xlm {
namespace {

constexpr const char* kNumberedGroup = "xlm";

[[noreturn]] void fail_in_pattern(const std::string& pattern, std::size_t place, const std::string& reason) {
  std::size_t characters = 0;
  for (std::size_t at = 0; at < place && at < pattern.size(); ++characters) next_code_point(pattern, at);
  throw UsageError(fmt::format("the pattern '{}' is wrong at character {}: {}", pattern, characters + 1, reason));
}

/// The pattern as RE2 takes it.
class Translation {
 public:
  explicit Translation(const std::string& pattern) : pattern_(pattern) {
    if (repaired_utf8(pattern) != pattern) throw UsageError("a pattern is not UTF-8");
    while (at_ < pattern_.size()) {
      if (rest().starts_with("\\Q")) {
        copy(std::min(pattern_.size(), pattern_.find("\\E", at_)) - at_);
      } else if (pattern_[at_] == '\\') {
        copy(2);
      } else if (pattern_[at_] == '[') {
        copy_class();
      } else if (pattern_[at_] == '(') {
        open_.push_back(at_);
        copy_group();
      } else {
        if (pattern_[at_] == ')') close();
        copy(1);
      }
    }
    if (!open_.empty()) fail_in_pattern(pattern_, open_.back(), "this parenthesis is not closed");
  }

  const std::string& text() const { return text_; }
  std::vector<std::string> take_names() { return std::move(names_); }

  /// Where a part of the translated text stands in the pattern.
  std::size_t place_of(const std::string& part) const {
    const std::size_t found = text_.find(part);
    if (part.empty() || found == std::string::npos) return 0;
    const auto behind = std::upper_bound(copied_.begin(), copied_.end(), std::pair(found, std::string::npos));
    if (behind == copied_.begin()) return 0;
    return std::prev(behind)->second + (found - std::prev(behind)->first);
  }

 private:
  std::string_view rest() const { return std::string_view(pattern_).substr(at_); }

  void copy(std::size_t bytes) {
    copied_.emplace_back(text_.size(), at_);
    text_ += rest().substr(0, bytes);
    at_ = std::min(pattern_.size(), at_ + bytes);
  }

  void close() {
    if (open_.empty()) fail_in_pattern(pattern_, at_, "nothing was opened that this parenthesis closes");
    open_.pop_back();
  }

  /// Up to the bracket that closes it; the first sign is never that, nor what closes "[:alpha:]".
  void copy_class() {
    const std::size_t begin = at_;
    std::size_t end = at_ + 1;
    if (end < pattern_.size() && pattern_[end] == '^') ++end;
    for (bool first = true; end < pattern_.size() && (first || pattern_[end] != ']'); first = false) {
      const std::size_t named = pattern_.compare(end, 2, "[:") == 0 ? pattern_.find(":]", end + 2) : std::string::npos;
      end = named != std::string::npos ? named + 2 : end + (pattern_[end] == '\\' ? 2 : 1);
    }
    if (end >= pattern_.size()) fail_in_pattern(pattern_, begin, "this bracket is not closed");
    copy(end + 1 - at_);
  }

  void copy_group() {
    const std::string_view text = rest();
    const std::size_t begin = text.starts_with("(?P<") ? 4 : 3;
    const bool is_named =
        text.starts_with("(?P<") || (text.starts_with("(?<") && !text.starts_with("(?<=") && !text.starts_with("(?<!"));
    if (!is_named) return copy(1);
    const std::size_t end = text.find('>');
    if (end == std::string_view::npos) fail_in_pattern(pattern_, at_, "the name of this group has no end");
    const std::string name(text.substr(begin, end - begin));
    if (!is_quantity_name(name)) {
      fail_in_pattern(pattern_, at_ + begin, wrong_quantity_name(name));
    }
    copied_.emplace_back(text_.size(), at_);
    text_ += fmt::format("(?P<{}{}>", kNumberedGroup, names_.size());
    names_.push_back(name);
    at_ += end + 1;
  }

  const std::string& pattern_;
  std::size_t at_ = 0;
  std::string text_;
  std::vector<std::string> names_;
  std::vector<std::size_t> open_;                                 // parentheses
  std::vector<std::pair<std::size_t, std::size_t>> copied_ = {};  // from a place of text_ on: the place in pattern_
};

RE2::Options pattern_options() {
  RE2::Options options;
  options.set_log_errors(false);
  return options;
}

/// RE2's reason, with advice if the pattern uses what RE2 does not have.
std::string reason_of(const RE2& expression) {
  std::string reason = expression.error();
  const std::string quoted = ": " + expression.error_arg();
  if (reason.ends_with(quoted)) reason.resize(reason.size() - quoted.size());
  if (!expression.error_arg().empty()) reason += fmt::format(" '{}'", expression.error_arg());
  if (expression.error_code() == RE2::ErrorBadEscape || expression.error_arg().starts_with("(?")) {
    reason += "\nlook-around and references to earlier groups are not part of RE2's syntax";
  }
  return reason;
}

}  // namespace

struct LinePattern::Parts {
  Parts(const std::string& pattern, Translation translation)
      : text(pattern), expression(translation.text(), pattern_options()), names(translation.take_names()) {
    if (!expression.ok()) {
      fail_in_pattern(pattern, translation.place_of(expression.error_arg()), reason_of(expression));
    }
    if (names.empty()) {
      throw UsageError(fmt::format(
          "the pattern '{}' has no named group\nname what it shall find: (?<step>\\d+), (?<valid.bpc>[\\d.]+)", text));
    }
    const auto& numbers = expression.NamedCapturingGroups();
    for (std::size_t i = 0; i < names.size(); ++i) {
      group_numbers.push_back(numbers.at(kNumberedGroup + std::to_string(i)));
    }
    found.resize(static_cast<std::size_t>(group_numbers.back()) + 1);
  }

  std::string text;
  RE2 expression;
  std::vector<std::string> names;
  std::vector<int> group_numbers;  // by name
  std::vector<re2::StringPiece> found;
};

LinePattern::LinePattern(const std::string& pattern) : parts_(std::make_unique<Parts>(pattern, Translation(pattern))) {}
LinePattern::LinePattern(LinePattern&&) noexcept = default;
LinePattern& LinePattern::operator=(LinePattern&&) noexcept = default;
LinePattern::~LinePattern() = default;

const std::string& LinePattern::text() const { return parts_->text; }
const std::vector<std::string>& LinePattern::names() const { return parts_->names; }

bool LinePattern::match(std::string_view line, std::vector<std::string_view>& groups) {
  Parts& parts = *parts_;
  const re2::StringPiece text(line.data(), line.size());
  if (!parts.expression.Match(text, 0, text.size(), RE2::UNANCHORED, parts.found.data(),
                              static_cast<int>(parts.found.size()))) {
    return false;
  }
  groups.resize(parts.names.size());
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const re2::StringPiece& group = parts.found[static_cast<std::size_t>(parts.group_numbers[i])];
    groups[i] = group.data() == nullptr ? std::string_view() : std::string_view(group.data(), group.size());
  }
  return true;
}

}  // namespace xlm
