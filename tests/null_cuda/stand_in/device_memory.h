// The GPUs' memory: addresses that the host may not read, unless the program's own kernels are run (setting "values").
#pragma once

#include <cstddef>
#include <map>
#include <vector>

namespace null_cuda {

class DeviceMemory {
 public:
  /// Null if the GPU's memory does not suffice. New memory is zero.
  void* allocate(int device, std::size_t bytes);
  /// Returns whether `place` was the beginning of an allocation.
  bool free(void* place);

  bool contains(const void* place) const;
  /// Whether all of `bytes` from `place` on are in one allocation.
  bool contains(const void* place, std::size_t bytes) const;
  /// The GPU of an address, or -1.
  int device_of(const void* place) const;

  std::size_t used(int device) const { return usage_[index(device)].used; }
  std::size_t peak(int device) const { return usage_[index(device)].highest; }
  /// The peak since the last call.
  std::size_t take_peak(int device);

  /// Numbers of the host, which the next copy from this place brings back as they are.
  void keep(const void* place) { kept_ = place; }
  bool take_kept(const void* place);

  /// Memory of the host that is pinned.
  void pin(const void* place, std::size_t bytes);
  void unpin(const void* place);
  bool is_pinned(const void* place) const;

 private:
  struct Block {
    std::size_t bytes;
    int device;
    void* mapped;  // the whole mapping, of which the block is the aligned part
    std::size_t mapped_bytes;
  };
  struct Usage {
    std::size_t used = 0;
    std::size_t peak = 0;     // since it was taken
    std::size_t highest = 0;  // ever
  };

  static std::size_t index(int device) { return static_cast<std::size_t>(device) % kMaxDevices; }
  std::map<const char*, Block>::const_iterator block_of(const void* place) const;

  static constexpr std::size_t kMaxDevices = 16;
  std::map<const char*, Block> blocks_;
  std::map<const char*, std::size_t> pinned_;
  const void* kept_ = nullptr;
  std::vector<Usage> usage_ = std::vector<Usage>(kMaxDevices);
};

DeviceMemory& device_memory();

/// The host may read and write these bytes of a GPU's memory inside its scope.
class OpenToHost {
 public:
  OpenToHost(const void* place, std::size_t bytes);
  ~OpenToHost();
  OpenToHost(const OpenToHost&) = delete;
  OpenToHost& operator=(const OpenToHost&) = delete;

 private:
  char* begin_;
  std::size_t bytes_;
};

}  // namespace null_cuda
