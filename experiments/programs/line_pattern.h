// A regular expression with named groups, matched against lines of a program's output.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <re2/re2.h>

namespace xlm {

/// RE2's syntax; matching takes time in proportion to the line, for any pattern. The name of a group is the name of a
/// quantity and may have dots and dashes: (?<valid.bpc>…). Several groups may have the same name.
class LinePattern {
 public:
  /// Throws UsageError for a mistake, for a name that no quantity may have, and where there is no named group.
  explicit LinePattern(const std::string& pattern);

  const std::string& text() const { return text_; }
  /// The names of the groups, in their order.
  const std::vector<std::string>& names() const { return names_; }

  /// Whether the pattern fits somewhere in the line, which is UTF-8. `groups` gets a view into `line` for each name;
  /// its data() is null if the group took no part.
  bool match(std::string_view line, std::vector<std::string_view>& groups) const;

  /// The same where each group takes any text without blanks.
  bool match_any_text(std::string_view line, std::vector<std::string_view>& groups) const;

 private:
  /// What a line must fit, and the number of the group of each name in it; 0: it has none.
  struct Form {
    std::unique_ptr<RE2> expression;
    std::vector<int> groups;
  };
  Form form_of(const std::string& text) const;
  bool match_by(const Form& form, std::string_view line, std::vector<std::string_view>& groups) const;

  std::string text_;
  std::vector<std::string> names_;
  Form form_;
  Form loose_form_;  // each group takes any text without blanks
  mutable std::vector<re2::StringPiece> found_;
};

}  // namespace xlm
