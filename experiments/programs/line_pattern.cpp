// Patterns by RE2. Its group names cannot have dots, so that groups get numbered names here, and ours are kept apart.
#include "experiments/programs/line_pattern.h"

#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/error.h"
#include "base/lookup.h"
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

LinePattern::LinePattern(const std::string& pattern) : text_(pattern) {
  Translation translation = translated(pattern);
  names_ = std::move(translation.names);
  form_ = form_of(translation.text);
  loose_form_ = form_of(translation.loose);
  if (!form_.expression->ok()) fail_in_pattern(pattern, reason_of(*form_.expression));
  if (names_.empty()) {
    throw UsageError(fmt::format(
        "the pattern '{}' has no named group\nname what it shall find: (?<step>\\d+), (?<valid.bpc>[\\d.]+)", text_));
  }
  found_.resize(static_cast<std::size_t>(form_.groups.back()) + 1);
}

LinePattern::Form LinePattern::form_of(const std::string& text) const {
  Form form{.expression = std::make_unique<RE2>(text, pattern_options()), .groups = {}};
  for (std::size_t i = 0; i < names_.size(); ++i) {
    form.groups.push_back(value_or(form.expression->NamedCapturingGroups(), kNumberedGroup + std::to_string(i), 0));
  }
  return form;
}

bool LinePattern::match(std::string_view line, std::vector<std::string_view>& groups) const {
  return match_by(form_, line, groups);
}

bool LinePattern::match_any_text(std::string_view line, std::vector<std::string_view>& groups) const {
  return loose_form_.expression->ok() && match_by(loose_form_, line, groups);
}

bool LinePattern::match_by(const Form& form, std::string_view line, std::vector<std::string_view>& groups) const {
  const re2::StringPiece text(line.data(), line.size());
  if (!form.expression->Match(text, 0, text.size(), RE2::UNANCHORED, found_.data(), static_cast<int>(found_.size()))) {
    return false;
  }
  groups.resize(names_.size());
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const int number = form.groups[i];
    const re2::StringPiece& group = found_[static_cast<std::size_t>(number)];
    groups[i] =
        group.data() == nullptr || number == 0 ? std::string_view() : std::string_view(group.data(), group.size());
  }
  return true;
}

}  // namespace xlm
