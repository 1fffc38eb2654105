// Lines of a file that its program writes anew with what it held before: those are not handed on again.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace xlm {

class RepeatedLines {
 public:
  /// Of files with more lines, those behind are handed on again: 32 MiB of memory.
  static constexpr std::size_t kMostLines = std::size_t{1} << 22;

  /// The file is read from its beginning.
  void restart() { next_ = 0; }

  /// Whether a line was there before the restart, and all before it too. `content` is what counts of it.
  bool is_repeated(std::string_view content) {
    const std::uint64_t hash = std::hash<std::string_view>()(content);
    if (next_ < hashes_.size() && hashes_[next_] == hash) {
      ++next_;
      return true;
    }
    hashes_.resize(next_);
    if (next_ < kMostLines) {
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
