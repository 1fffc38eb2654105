// A regular expression with named groups, matched against lines of a program's output.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace re2 {
class RE2;
}

namespace xlm {

/// RE2's syntax; matching takes time in proportion to the line, for any pattern. The name of a group is the name of a
/// quantity and may have dots and dashes: (?<valid.bpc>…). Several groups may have the same name.
class LinePattern {
 public:
  /// Throws UsageError for a mistake, for a name that no quantity may have, and where there is no named group.
  explicit LinePattern(const std::string& pattern);
  LinePattern(LinePattern&&) noexcept;
  LinePattern& operator=(LinePattern&&) noexcept;
  ~LinePattern();

  const std::string& text() const;
  /// The names of the groups, in their order.
  const std::vector<std::string>& names() const;

  /// Whether the pattern fits somewhere in the line, which is UTF-8. `groups` gets a view into `line` for each name;
  /// its data() is null if the group took no part.
  bool match(std::string_view line, std::vector<std::string_view>& groups) const;

  /// The same where each group takes any text without blanks.
  bool match_any_text(std::string_view line, std::vector<std::string_view>& groups) const;

 private:
  struct Parts;
  bool match_by(const re2::RE2& expression, const std::vector<int>& numbers, std::string_view line,
                std::vector<std::string_view>& groups) const;

  std::unique_ptr<Parts> parts_;
};

}  // namespace xlm
