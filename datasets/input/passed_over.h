// What a preparation did not read, for the words at its end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace xlm {

/// Counts what was passed over, by kind, and keeps the first names of each.
class PassedOver {
 public:
  /// `kind` is a plural: "hidden files".
  void add(const std::string& kind, const std::string& name, std::int64_t count = 1);
  /// "hidden files: 2 (.git, a/.DS_Store); empty files: 1 (b.txt)"; "" where there was nothing.
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
