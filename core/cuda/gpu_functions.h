// Kernels that were compiled at run time, loaded and started on one GPU by the CUDA driver.
#pragma once

#include <cuda.h>

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

  int capability() const { return capability_; }        // 80 is 8.0
  int shared_memory() const { return shared_memory_; }  // bytes that a block may have

  struct Wanted {
    const char* name;
    int memory;  // bytes of shared memory of a block
  };
  /// The kernels of a program, which is never unloaded.
  std::vector<CUfunction> load(const std::string& program, const std::vector<Wanted>& wanted) const;

  /// Starts grid_x · grid_y blocks of kBlockThreads threads on libtorch's stream.
  void start(CUfunction function, int grid_x, int grid_y, int memory, void** arguments) const;

 private:
  int device_;
  int capability_ = 0;
  int shared_memory_ = 0;
  CudaDriver driver_;
};

}  // namespace xlm
