// Which rows of the batch are computed: what is drawn by place is drawn by these.
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

  /// The first row that this thread computes; 0 where none lives.
  static std::int64_t first_row();

 private:
  std::int64_t before_;
};

/// While it lives, this thread's dropout by place on a GPU gets its seeds from the GPU's generator: a step that is
/// recorded and replayed would drop the same each time if its seed were a number of the recording.
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
