// Patterns by RE2. Its group names cannot have dots, so that groups get numbered names here, and ours are kept apart.
#include "experiments/programs/line_pattern.h"

#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/error.h"
#include "base/utf8.h"
#include "experiments/programs/quantity_name.h"

namespace xlm {
namespace {

constexpr const char* kNumberedGroup = "xlm";

[[noreturn]] void fail_in_pattern(const std::string& pattern, const std::string& reason) {
  throw UsageError(fmt::format("the pattern '{}' is wrong: {}", pattern, reason));
}

/// The pattern as RE2 takes it, and the names of its groups.
struct Translation {
  std::string text;
  std::string loose = {};  // with \S+ in each named group
  std::vector<std::string> names;
};

Translation translated(const std::string& pattern) {
  // The beginning of a named group; or quoted text, an escape or a class, in which there is none; or another sign.
  static const RE2 part(
      R"((?s)\(\?P?<([^=!>][^>]*)>|(\\Q.*?(?:\\E|$)|\\.|\[\^?(?:\[:\w+:\]|\\.|.)(?:\[:\w+:\]|\\.|[^\]])*\]|.))");
  if (repaired_utf8(pattern) != pattern) throw UsageError("a pattern is not UTF-8");
  Translation translation;
  re2::StringPiece rest = pattern;
  std::string name;
  std::string other;
  int depth = 0;   // of brackets
  int inside = 0;  // the depth of a named group that is read; 0: none
  while (RE2::Consume(&rest, part, &name, &other)) {
    const bool opens = other == "(" || !name.empty();
    depth += opens ? 1 : other == ")" ? -1 : 0;
    if (inside > depth) inside = 0;
    if (name.empty()) {
      translation.text += other;
      if (inside == 0) translation.loose += other;
      continue;
    }
    if (!is_quantity_name(name)) fail_in_pattern(pattern, wrong_quantity_name(name));
    const std::string group = fmt::format("(?P<{}{}>", kNumberedGroup, translation.names.size());
    translation.text += group;
    if (inside == 0) {
      translation.loose += group + "\\S+";
      inside = depth;
    }
    translation.names.push_back(name);
  }
  return translation;
}

RE2::Options pattern_options() {
  RE2::Options options;
  options.set_log_errors(false);
  return options;
}

/// RE2's reason, with advice if the pattern uses what RE2 does not have.
std::string reason_of(const RE2& expression) {
  std::string reason = expression.error();
  const std::string& wrong = expression.error_arg();
  const std::string quoted = ": " + wrong;
  if (reason.ends_with(quoted)) reason.resize(reason.size() - quoted.size());
  const bool is_all = wrong.find(kNumberedGroup) != std::string::npos;  // with the names that groups have for RE2
  if (!wrong.empty() && !is_all) reason += fmt::format(" '{}'", wrong);
  if (expression.error_code() == RE2::ErrorBadEscape || wrong.starts_with("(?")) {
    reason += "\nlook-around and references to earlier groups are not part of RE2's syntax";
  }
  return reason;
}

}  // namespace

struct LinePattern::Parts {
  Parts(const std::string& pattern, Translation translation)
      : text(pattern),
        expression(translation.text, pattern_options()),
        loose(translation.loose, pattern_options()),
        names(std::move(translation.names)) {
    if (!expression.ok()) fail_in_pattern(pattern, reason_of(expression));
    if (names.empty()) {
      throw UsageError(fmt::format(
          "the pattern '{}' has no named group\nname what it shall find: (?<step>\\d+), (?<valid.bpc>[\\d.]+)", text));
    }
    group_numbers = numbers_in(expression);
    loose_numbers = numbers_in(loose);
    found.resize(static_cast<std::size_t>(group_numbers.back()) + 1);
  }

  /// Of the groups by name; 0: it has none of that name.
  std::vector<int> numbers_in(const RE2& of) const {
    const auto& numbers = of.NamedCapturingGroups();
    std::vector<int> all;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto number = numbers.find(kNumberedGroup + std::to_string(i));
      all.push_back(number == numbers.end() ? 0 : number->second);
    }
    return all;
  }

  std::string text;
  RE2 expression;
  RE2 loose;
  std::vector<std::string> names;
  std::vector<int> group_numbers;  // by name
  std::vector<int> loose_numbers;
  std::vector<re2::StringPiece> found;
};

LinePattern::LinePattern(const std::string& pattern) : parts_(std::make_unique<Parts>(pattern, translated(pattern))) {}
LinePattern::LinePattern(LinePattern&&) noexcept = default;
LinePattern& LinePattern::operator=(LinePattern&&) noexcept = default;
LinePattern::~LinePattern() = default;

const std::string& LinePattern::text() const { return parts_->text; }
const std::vector<std::string>& LinePattern::names() const { return parts_->names; }

bool LinePattern::match(std::string_view line, std::vector<std::string_view>& groups) const {
  return match_by(parts_->expression, parts_->group_numbers, line, groups);
}

bool LinePattern::match_any_text(std::string_view line, std::vector<std::string_view>& groups) const {
  return parts_->loose.ok() && match_by(parts_->loose, parts_->loose_numbers, line, groups);
}

bool LinePattern::match_by(const RE2& expression, const std::vector<int>& numbers, std::string_view line,
                           std::vector<std::string_view>& groups) const {
  Parts& parts = *parts_;
  const re2::StringPiece text(line.data(), line.size());
  if (!expression.Match(text, 0, text.size(), RE2::UNANCHORED, parts.found.data(),
                        static_cast<int>(parts.found.size()))) {
    return false;
  }
  groups.resize(parts.names.size());
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const re2::StringPiece& group = parts.found[static_cast<std::size_t>(numbers[i])];
    groups[i] =
        group.data() == nullptr || numbers[i] == 0 ? std::string_view() : std::string_view(group.data(), group.size());
  }
  return true;
}

}  // namespace xlm
