// The rows of the batch that a thread computes: draws by place depend on them.
#pragma once

#include <cstdint>

namespace xlm {

/// While it lives, this thread computes the rows of the batch from `first` on.
class PartOfBatch {
 public:
  explicit PartOfBatch(std::int64_t first);
  ~PartOfBatch();
  PartOfBatch(const PartOfBatch&) = delete;
  PartOfBatch& operator=(const PartOfBatch&) = delete;

  /// The first row that this thread computes; 0 if no PartOfBatch lives.
  static std::int64_t first_row();

 private:
  std::int64_t before_;
};

/// While it lives, this thread's dropout by place on a GPU gets its seeds from the GPU's generator. A seed that is a
/// number of a recorded step would drop the same elements in every replay.
class SeedsOnDevice {
 public:
  SeedsOnDevice();
  ~SeedsOnDevice();
  SeedsOnDevice(const SeedsOnDevice&) = delete;
  SeedsOnDevice& operator=(const SeedsOnDevice&) = delete;
  static bool wanted();

 private:
  bool before_;
};

}  // namespace xlm
