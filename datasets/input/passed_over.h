// What a preparation skipped, for its final message.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace xlm {

/// Counts what was skipped, by kind, and keeps the first names of each.
class PassedOver {
 public:
  /// `kind` is a plural: "hidden files".
  void add(const std::string& kind, const std::string& name, std::int64_t count = 1);
  /// "hidden files: 2 (.git, a/.DS_Store); empty files: 1 (b.txt)"; "" if nothing was skipped.
  std::string text() const;

 private:
  struct Kind {
    std::string kind;
    std::int64_t count = 0;
    std::vector<std::string> names;
  };
  std::vector<Kind> kinds_;
};

}  // namespace xlm
