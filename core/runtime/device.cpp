// Devices and precision.
#include "core/runtime/device.h"

#include <dlfcn.h>
#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <c10/core/CachingDeviceAllocator.h>

#include <fmt/format.h>

#include "base/error.h"
#include "base/machine.h"
#include "base/shared_library.h"
#include "base/text.h"
#include "core/runtime/cuda_libraries.h"

namespace xlm {
namespace {

/// For the whole process. cuBLAS reads its variable at its first use. Of libtorch's attention kernels the
/// memory-efficient one sums its gradients in any order. Flash attention has a deterministic mode, which the first call
/// sets.
void compute_deterministically() {
  ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
  at::Context& context = at::globalContext();
  context.setDeterministicAlgorithms(true, /*warn_only=*/false);
  context.setDeterministicFillUninitializedMemory(false);  // no code reads such memory
  context.setSDPUseMemEfficient(false);
}

}  // namespace

torch::Device prepare_device(const RunOptions& options, const Processes& processes) {
  if (options.train.threads > 0) at::set_num_threads(static_cast<int>(options.train.threads));
  at::globalContext().setAllowTF32CuBLAS(options.train.tf32);
  // libtorch tries cuDNN's attention first on a GPU. It rounds the dropout to sixteenths and gives NaN gradients with a
  // bias of some lengths (pytorch/pytorch#196678).
  at::globalContext().setSDPUseCuDNN(false);
  if (options.train.deterministic) compute_deterministically();
  const torch::Device device = choose_device(options.device);
  if (processes.count <= 1) return device;
  const auto gpus = device.is_cpu() ? 0 : static_cast<std::int64_t>(torch::cuda::device_count()) - device.index();
  if (gpus < processes.count) {
    throw UsageError(fmt::format("train.processes={} asks for as many GPUs here, and from {} on there are {}",
                                 processes.count, device.str(), gpus));
  }
  return choose_device(fmt::format("cuda:{}", device.index() + processes.rank));
}

CudaState find_cuda(const std::vector<fs::path>& devices, const fs::path& library) {
  CudaState state;
  if (const auto named = named_gpus(); named && named->empty()) {
    const bool by_cuda = std::getenv("CUDA_VISIBLE_DEVICES") != nullptr;
    state.reason = fmt::format("{}_VISIBLE_DEVICES hides every GPU", by_cuda ? "CUDA" : "NVIDIA");
    state.remedy = ", or unset that variable";
    return state;
  }
  state.gpu = std::ranges::any_of(devices, [](const fs::path& each) { return fs::exists(each); });
  if (!state.gpu) {
    state.reason = "no NVIDIA GPU is there, or its driver is not loaded";
    return state;
  }
  // The library registers itself when it is opened. That must happen before any query about CUDA, whose answer libtorch
  // caches.
  if (::dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    const char* why = ::dlerror();
    state.reason = why != nullptr ? why : library.string() + " does not open";
    state.remedy = ", or install the CUDA libraries with `make setup CUDA=1`";
    return state;
  }
  open_compiler_headers();
  state.usable = torch::cuda::is_available();
  if (state.usable) return state;
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) {
    state.reason = fmt::format("CUDA finds none of the GPUs of CUDA_VISIBLE_DEVICES={}", visible);
    state.remedy = ", or name GPUs that `nvidia-smi -L` lists";
  } else {
    state.reason = "CUDA finds no GPU that it can use: the driver may be too old (nvidia-smi says which)";
    state.remedy = ", or update the driver";
  }
  return state;
}

const CudaState& cuda_state() {
  static const CudaState state = find_cuda({"/dev/nvidiactl", "/dev/dxg"}, torch_cuda_library());
  return state;
}

torch::Device choose_device(const std::string& name, const CudaState& cuda) {
  if (name == "cpu") return torch::kCPU;
  if (name == "auto" && cuda.usable) return {torch::kCUDA, 0};
  if (name == "auto" && !cuda.gpu) return torch::kCPU;
  std::int64_t index = 0;
  const bool numbered = name.starts_with("cuda:") && parse_integer(name.substr(5), index) && index >= 0 && index < 128;
  if (name != "auto" && name != "cuda" && !numbered) {
    throw UsageError(fmt::format("device '{}' is not cpu, cuda, cuda:N or auto", name));
  }
  if (!cuda.usable) {
    throw Error(fmt::format("device {} is not available: {}{}\nuse device=cpu{}", name,
                            name == "auto" ? "this machine has a GPU, but " : "", cuda.reason, cuda.remedy));
  }
  if (index >= static_cast<std::int64_t>(torch::cuda::device_count())) {
    throw Error(fmt::format("device {} is not available: the last of this machine is cuda:{}", name,
                            torch::cuda::device_count() - 1));
  }
  return {torch::kCUDA, static_cast<c10::DeviceIndex>(index)};
}

std::map<std::string, std::string> describe_device(torch::Device device) {
  if (!device.is_cuda()) return {};
  using Describe = void (*)(int, void (*)(void*, const char*, const char*), void*);
  std::map<std::string, std::string> found;
  const auto describe = reinterpret_cast<Describe>(library_function("libxlm_cuda.so", "xlm_describe_device"));
  const auto add = [](void* to, const char* key, const char* value) {
    (*static_cast<std::map<std::string, std::string>*>(to))[key] = value;
  };
  describe(device.index(), add, &found);
  std::ifstream file("/proc/driver/nvidia/version");
  const std::string release = driver_release({std::istreambuf_iterator<char>(file), {}});
  if (!release.empty()) found["driver"] = fmt::format("{} {}", release, found["driver"]);
  return found;
}

std::string driver_release(const std::string& text) {
  // "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build …"
  std::istringstream words(text.substr(0, text.find('\n')));
  for (std::string word; words >> word;) {
    const bool numbers = word.find_first_not_of("0123456789.") == std::string::npos;
    if (numbers && word.find('.') != std::string::npos) return word;
  }
  return "";
}

bool is_out_of_memory(const c10::Error& error) {
  if (dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr) return true;
  // The host's allocator; then what takes a GPU's memory without libtorch's allocator: CUDA's runtime, such as for a
  // graph that is instantiated, its driver, and cuBLAS and its relatives.
  constexpr std::array<std::string_view, 4> kTexts{"can't allocate memory", "CUDA error: out of memory",
                                                   "CUDA driver error: out of memory", "STATUS_ALLOC_FAILED"};
  const std::string_view text = error.what_without_backtrace();
  return std::ranges::any_of(kTexts, [&](std::string_view each) { return text.find(each) != std::string_view::npos; });
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
  ::getrusage(RUSAGE_SELF, &usage);  // it cannot be reset, and includes memory of the process before this program
  return 1024 * usage.ru_maxrss;
}

std::int64_t peak_reserved_memory(torch::Device device) {
  if (!device.is_cuda()) return 0;
  constexpr auto kAll = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  return c10::getDeviceAllocator(device.type())->getDeviceStats(device.index()).reserved_bytes[kAll].peak;
}

std::optional<std::int64_t> gpu_memory_within_reach(torch::Device device) {
  if (!device.is_cuda()) return std::nullopt;
  constexpr auto kAll = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  c10::DeviceAllocator* allocator = c10::getDeviceAllocator(device.type());
  const auto free = static_cast<std::int64_t>(allocator->getMemoryInfo(device.index()).first);
  return free + allocator->getDeviceStats(device.index()).reserved_bytes[kAll].current;
}

void return_kept_memory(torch::Device device) {
  if (device.is_cuda()) c10::getDeviceAllocator(device.type())->emptyCache();
}

bool restart_peak_memory(torch::Device device) {
  if (device.is_cuda()) {
    c10::getDeviceAllocator(device.type())->resetPeakStats(device.index());
    return true;
  }
  ::malloc_trim(0);
  std::ofstream file("/proc/self/clear_refs");
  file << "5" << std::flush;  // resets the peak to the current use
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
