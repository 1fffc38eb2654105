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
  while (RE2::Consume(&rest, part, &name, &other)) {
    if (name.empty()) {
      translation.text += other;
      continue;
    }
    if (!is_quantity_name(name)) fail_in_pattern(pattern, wrong_quantity_name(name));
    translation.text += fmt::format("(?P<{}{}>", kNumberedGroup, translation.names.size());
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
      : text(pattern), expression(translation.text, pattern_options()), names(std::move(translation.names)) {
    if (!expression.ok()) fail_in_pattern(pattern, reason_of(expression));
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

LinePattern::LinePattern(const std::string& pattern) : parts_(std::make_unique<Parts>(pattern, translated(pattern))) {}
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
