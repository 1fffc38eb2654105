// Recognises lines that were already read, when a program rewrites a file with its old content.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace xlm {

class RepeatedLines {
 public:
  /// 32 MiB of memory. Lines beyond are never recognised.
  static constexpr std::size_t kMaxLines = std::size_t{1} << 22;

  /// The file is read from its beginning again.
  void restart() { next_ = 0; }

  /// Whether this line, and all lines before it, are the same as before the restart. `content` is compared.
  bool is_repeated(std::string_view content) {
    const std::uint64_t hash = std::hash<std::string_view>()(content);
    if (next_ < hashes_.size() && hashes_[next_] == hash) {
      ++next_;
      return true;
    }
    hashes_.resize(next_);
    if (next_ < kMaxLines) {
      hashes_.push_back(hash);
      ++next_;
    }
    return false;
  }

 private:
  std::vector<std::uint64_t> hashes_;
  std::size_t next_ = 0;
};

}  // namespace xlm
