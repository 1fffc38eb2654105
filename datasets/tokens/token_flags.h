// A flag for every token of a split, such as the ends of a segmentation's pieces.
#pragma once

#include <cstdint>

namespace xlm {

class TokenFlags {
 public:
  virtual ~TokenFlags() = default;
  /// Copies the flags [begin, begin + count) to `out`.
  virtual void copy(std::int64_t begin, std::int64_t count, bool* out) const = 0;
};

}  // namespace xlm
