// Kernels that were compiled at run time, loaded and started on one GPU by the CUDA driver.
#pragma once

#include <cuda.h>

#include <array>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace xlm {

/// Functions of the CUDA driver's library, which libtorch has already opened.
struct CudaDriver {
  decltype(&::cuModuleLoadData) load = nullptr;
  decltype(&::cuModuleGetFunction) find = nullptr;
  decltype(&::cuFuncSetAttribute) set = nullptr;
  decltype(&::cuLaunchKernel) launch = nullptr;
  decltype(&::cuGetErrorString) describe = nullptr;

  CudaDriver();
  /// Throws Error, or libtorch's error of memory that ran out. `what`: "cannot start".
  void check(CUresult result, const char* what) const;
};

class GpuFunctions {
 public:
  /// Throws Error for a GPU before compute capability 8.0.
  explicit GpuFunctions(int device);

  int shared_memory() const { return shared_memory_; }  // bytes that a block may have

  struct Wanted {
    const char* name;
    int memory;  // bytes of shared memory of a block
  };
  /// Kernels of a program's text (gpu_program.h).
  struct Source {
    std::string text;
    std::vector<Wanted> wanted;
  };
  /// The kernels of a kind: compiled and loaded when they are first asked for, kept in the user's cache, and never
  /// unloaded.
  using Kind = std::array<int, 6>;
  const std::vector<CUfunction>& of(const Kind& kind, const std::function<Source()>& source);

  /// Starts grid_x · grid_y blocks of kBlockThreads threads on libtorch's stream.
  void start(CUfunction function, int grid_x, int grid_y, int memory, void** arguments) const;

 private:
  std::vector<CUfunction> load(const Source& source) const;

  int device_;
  int capability_ = 0;  // 80 is 8.0
  int shared_memory_ = 0;
  CudaDriver driver_;
  std::mutex mutex_;  // backward passes run in other threads
  std::map<Kind, std::vector<CUfunction>> kernels_;
};

}  // namespace xlm
