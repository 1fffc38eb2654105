// Devices and precision.
#include "core/runtime/device.h"

#include <dlfcn.h>
#include <malloc.h>
#include <sys/resource.h>

#include <fstream>
#include <sstream>

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <c10/core/CachingDeviceAllocator.h>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace xlm {
namespace {

/// libtorch_cuda registers itself when it is opened; that must come before any question about CUDA, whose answer
/// libtorch keeps.
bool open_cuda() {
  if (!fs::exists("/proc/driver/nvidia/version") && !fs::exists("/dev/nvidiactl") && !fs::exists("/dev/dxg"))
    return false;
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&torch::cuda::is_available), &info) == 0) return false;
  const fs::path library = fs::path(info.dli_fname).parent_path() / "libtorch_cuda.so";
  if (::dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) return false;
  return torch::cuda::is_available();
}

}  // namespace

torch::Device prepare_device(const RunOptions& options) {
  if (options.train.threads > 0) at::set_num_threads(static_cast<int>(options.train.threads));
  at::globalContext().setAllowTF32CuBLAS(options.train.tf32);
  // Of libtorch's attention kernels on a GPU, cuDNN's comes first where it can; it rounds the dropout to sixteenths and
  // gives NaN gradients with a bias of some lengths (pytorch/pytorch#196678).
  at::globalContext().setSDPUseCuDNN(false);
  return choose_device(options.device);
}

bool cuda_available() {
  static const bool available = open_cuda();
  return available;
}

torch::Device choose_device(const std::string& name) {
  if (name == "cpu") return torch::kCPU;
  if (name == "auto") return cuda_available() ? torch::Device(torch::kCUDA, 0) : torch::Device(torch::kCPU);
  std::int64_t index = 0;
  const bool numbered = name.starts_with("cuda:") && parse_integer(name.substr(5), index) && index >= 0 && index < 128;
  if (name != "cuda" && !numbered) {
    throw UsageError(fmt::format("device '{}' is not cpu, cuda, cuda:N or auto", name));
  }
  if (!cuda_available()) {
    throw Error(
        fmt::format("device {} cannot be had: no NVIDIA driver is loaded, or libtorch_cuda.so does not open\n"
                    "use device=cpu, or install the CUDA libraries with `make setup CUDA=1`",
                    name));
  }
  if (index >= static_cast<std::int64_t>(torch::cuda::device_count())) {
    throw Error(
        fmt::format("device {} cannot be had: there are {} GPUs, counted from 0", name, torch::cuda::device_count()));
  }
  return {torch::kCUDA, static_cast<c10::DeviceIndex>(index)};
}

std::int64_t peak_memory(torch::Device device) {
  if (device.is_cuda()) {
    constexpr auto kAll = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
    return c10::getDeviceAllocator(device.type())->getDeviceStats(device.index()).allocated_bytes[kAll].peak;
  }
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    std::int64_t kilobytes = 0;
    if (line.starts_with("VmHWM:") && std::istringstream(line.substr(6)) >> kilobytes) return 1024 * kilobytes;
  }
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);  // which cannot be restarted, and counts what stood here before this program
  return 1024 * usage.ru_maxrss;
}

bool restart_peak_memory(torch::Device device) {
  if (device.is_cuda()) {
    c10::getDeviceAllocator(device.type())->resetPeakStats(device.index());
    return true;
  }
  ::malloc_trim(0);
  std::ofstream file("/proc/self/clear_refs");
  file << "5" << std::flush;  // the mark of the most memory falls to what there is now
  return file.good();
}

void wait_for(torch::Device device) {
  if (device.is_cuda()) torch::cuda::synchronize(device.index());
}

void keep_freed_memory() {
  constexpr int kBytes = 1 << 30;
  ::mallopt(M_MMAP_THRESHOLD, kBytes);
  ::mallopt(M_TRIM_THRESHOLD, kBytes);
}

PrecisionScope::PrecisionScope(Precision precision, torch::Device device)
    : type_(device.type()), active_(precision == Precision::kBfloat16) {
  if (!active_) return;
  at::autocast::set_autocast_enabled(type_, true);
  at::autocast::set_autocast_dtype(type_, torch::kBFloat16);
  at::autocast::increment_nesting();
}

PrecisionScope::~PrecisionScope() {
  if (!active_) return;
  at::autocast::decrement_nesting();
  at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(type_, false);
}

FullPrecisionScope::FullPrecisionScope(torch::Device device)
    : type_(device.type()), autocast_(at::autocast::is_autocast_enabled(type_)) {
  at::autocast::set_autocast_enabled(type_, false);
}

FullPrecisionScope::~FullPrecisionScope() { at::autocast::set_autocast_enabled(type_, autocast_); }

}  // namespace xlm
