// A reserve below a memory limit, for code that fails without memory.
#include "core/runtime/memory_reserve.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include "base/memory_limit.h"
#include "base/text.h"

namespace xlm {
namespace {

// A thread alone briefly reserves 128 MiB of address space, and keeps half of it.
constexpr std::int64_t kAddressesAtLeast = std::int64_t{160} << 20;
constexpr std::int64_t kDataAtLeast = std::int64_t{32} << 20;
constexpr std::int64_t kReserve = std::int64_t{48} << 20;
constexpr std::size_t kSmall = std::size_t{1} << 16;  // even thousands of these are less than the reserve

std::int64_t room_within(std::uint64_t address_space, std::uint64_t data) {
  std::string statm;
  std::getline(std::ifstream("/proc/self/statm"), statm);
  return room_below(statm, ::sysconf(_SC_PAGESIZE), address_space, data);
}

std::int64_t room_now() {
  static const ProcessLimits limits = process_limits();
  return room_within(limits.address_space, limits.data);
}

void check_room(std::int64_t room, std::int64_t needed, const char* what, const char* command) {
  if (room >= needed) return;
  throw MemoryLimitError(
      fmt::format("out of memory: libtorch is open, {} are left to it, and it needs {} for the least of models\n"
                  "raise the limit of {} (`{}`)",
                  human_bytes(static_cast<double>(std::max<std::int64_t>(room, 0))),
                  human_bytes(static_cast<double>(needed)), what, command));
}

/// libtorch's own allocator, used only if enough memory is left after the allocation.
class ReservingAllocator final : public c10::Allocator {
 public:
  explicit ReservingAllocator(c10::Allocator* inner) : inner_(inner) {}

  /// Checks after allocating, because reused memory takes nothing from the rest.
  c10::DataPtr allocate(std::size_t bytes) override {
    if (bytes < kSmall) return inner_->allocate(bytes);
    const std::int64_t before = room_now();
    c10::DataPtr memory = inner_->allocate(bytes);
    const std::int64_t after = room_now();
    if (after < kReserve && after < before) {
      memory.clear();
      ::malloc_trim(0);
      TORCH_CHECK_WITH(OutOfMemoryError, false, "can't allocate memory: ", bytes, " bytes of the ",
                       std::max<std::int64_t>(0, before - kReserve), " that `ulimit` leaves to tensors");
    }
    return memory;
  }
  c10::DeleterFnPtr raw_deleter() const override { return inner_->raw_deleter(); }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { inner_->copy_data(to, from, bytes); }

 private:
  c10::Allocator* inner_;
};

}  // namespace

std::int64_t room_below(std::string_view statm, std::int64_t page, std::uint64_t address_space, std::uint64_t data) {
  std::istringstream fields{std::string(statm)};
  std::int64_t mapped = 0;
  std::int64_t skipped = 0;
  std::int64_t written = 0;  // the process's own data and stack
  fields >> mapped >> skipped >> skipped >> skipped >> skipped >> written;
  std::int64_t room = std::numeric_limits<std::int64_t>::max();
  if (!fields) return room;
  if (address_space != RLIM_INFINITY) room = std::min(room, static_cast<std::int64_t>(address_space) - mapped * page);
  if (data != RLIM_INFINITY) room = std::min(room, static_cast<std::int64_t>(data) - written * page);
  return room;
}

void check_memory_room() {
  const ProcessLimits limits = process_limits();
  check_room(room_within(limits.address_space, RLIM_INFINITY), kAddressesAtLeast, "address space", "ulimit -v");
  check_room(room_within(RLIM_INFINITY, limits.data), kDataAtLeast, "data", "ulimit -d");
}

void keep_memory_reserve() {
  if (!process_limits().any()) return;
  static ReservingAllocator allocator(c10::GetDefaultCPUAllocator());
  c10::SetCPUAllocator(&allocator, std::numeric_limits<std::uint8_t>::max());
}

}  // namespace xlm
