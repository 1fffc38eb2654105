// The GPUs' memory is address space without access: a read by the host is caught where it happens.
#include "tests/null_cuda/stand_in/device_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>

#include "tests/null_cuda/stand_in/ledger.h"
#include "tests/null_cuda/stand_in/settings.h"

namespace null_cuda {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kAlignment = std::size_t{2} << 20;

std::size_t rounded_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

bool is_open_to_host() { return !settings().values.empty(); }

/// Says in a file that the host has touched a GPU's memory; then the signal ends the process as it would have.
void report_access(int signal, siginfo_t* info, void* /*context*/) {
  std::signal(signal, SIG_DFL);
  if (!device_memory().contains(info->si_addr)) return;
  constexpr char kText[] = "null CUDA: a rule is broken: the host reads or writes a GPU's memory\n";
  [[maybe_unused]] const ssize_t said = ::write(STDERR_FILENO, kText, sizeof kText - 1);
  if (settings().report.empty()) return;
  char name[4096];
  std::snprintf(name, sizeof name, "%s/%d.access", settings().report.c_str(), static_cast<int>(::getpid()));
  if (std::FILE* file = std::fopen(name, "w"); file != nullptr) std::fclose(file);
}

void watch_accesses() {
  static const bool watched = [] {
    struct sigaction action {};
    action.sa_sigaction = report_access;
    action.sa_flags = SA_SIGINFO;
    return ::sigaction(SIGSEGV, &action, nullptr) == 0;
  }();
  (void)watched;
}

}  // namespace

DeviceMemory& device_memory() {
  static DeviceMemory& memory = *new DeviceMemory;  // outlives every library
  return memory;
}

void* DeviceMemory::allocate(int device, std::size_t bytes) {
  watch_accesses();
  Usage& usage = usage_[index(device)];
  bytes = rounded_up(std::max<std::size_t>(bytes, 1), kPage);
  if (static_cast<double>(usage.used + bytes) > settings().memory) return nullptr;
  const std::size_t mapped_bytes = bytes + kAlignment;
  void* mapped = ::mmap(nullptr, mapped_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  const std::uintptr_t first = rounded_up(reinterpret_cast<std::uintptr_t>(mapped), kAlignment);
  auto* place = reinterpret_cast<char*>(first);
  // What lies around a block is never open.
  if (is_open_to_host()) ::mprotect(place, bytes, PROT_READ | PROT_WRITE);
  blocks_.emplace(place, Block{bytes, device, mapped, mapped_bytes});
  usage.used += bytes;
  usage.peak = std::max(usage.peak, usage.used);
  usage.highest = std::max(usage.highest, usage.used);
  return place;
}

bool DeviceMemory::free(void* place) {
  const auto found = blocks_.find(static_cast<const char*>(place));
  if (found == blocks_.end()) return false;
  usage_[index(found->second.device)].used -= found->second.bytes;
  ::munmap(found->second.mapped, found->second.mapped_bytes);
  blocks_.erase(found);
  return true;
}

std::map<const char*, DeviceMemory::Block>::const_iterator DeviceMemory::block_of(const void* place) const {
  const char* at = static_cast<const char*>(place);
  auto after = blocks_.upper_bound(at);
  if (after == blocks_.begin()) return blocks_.end();
  --after;
  return at < after->first + after->second.bytes ? after : blocks_.end();
}

bool DeviceMemory::contains(const void* place) const { return block_of(place) != blocks_.end(); }

bool DeviceMemory::contains(const void* place, std::size_t bytes) const {
  const auto block = block_of(place);
  if (block == blocks_.end()) return false;
  return static_cast<const char*>(place) + bytes <= block->first + block->second.bytes;
}

int DeviceMemory::device_of(const void* place) const {
  const auto block = block_of(place);
  return block == blocks_.end() ? -1 : block->second.device;
}

std::size_t DeviceMemory::take_peak(int device) {
  Usage& usage = usage_[index(device)];
  const std::size_t peak = usage.peak;
  usage.peak = usage.used;
  return peak;
}

bool DeviceMemory::take_kept(const void* place) {
  const bool is_kept = place == kept_;
  if (is_kept) kept_ = nullptr;
  return is_kept;
}

void DeviceMemory::pin(const void* place, std::size_t bytes) { pinned_[static_cast<const char*>(place)] = bytes; }

void DeviceMemory::unpin(const void* place) { pinned_.erase(static_cast<const char*>(place)); }

bool DeviceMemory::is_pinned(const void* place) const {
  const char* at = static_cast<const char*>(place);
  auto after = pinned_.upper_bound(at);
  if (after == pinned_.begin()) return false;
  --after;
  return at < after->first + after->second;
}

OpenToHost::OpenToHost(const void* place, std::size_t bytes) : begin_(nullptr), bytes_(0) {
  if (is_open_to_host() || bytes == 0) return;
  const auto first = reinterpret_cast<std::uintptr_t>(place) / kPage * kPage;
  const std::uintptr_t end = rounded_up(reinterpret_cast<std::uintptr_t>(place) + bytes, kPage);
  begin_ = reinterpret_cast<char*>(first);
  bytes_ = end - first;
  ::mprotect(begin_, bytes_, PROT_READ | PROT_WRITE);
}

OpenToHost::~OpenToHost() {
  if (begin_ != nullptr) ::mprotect(begin_, bytes_, PROT_NONE);
}

}  // namespace null_cuda
