// Which device is chosen, and the error if a GPU cannot be used.
#include "core/runtime/device.h"

#include <dlfcn.h>

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "core/runtime/cuda_libraries.h"
#include "tests/needs.h"
#include "tests/temporary_folder.h"
#include "tests/thrown_message.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string error_of(const std::string& device, const CudaState& cuda) {
  return thrown_message<Error>([&] { choose_device(device, cuda); });
}

class FindCuda : public testing::Test {
 protected:
  FindCuda() {
    ::unsetenv("CUDA_VISIBLE_DEVICES");
    write_file(gpu_, "");
  }
  ~FindCuda() override { ::unsetenv("CUDA_VISIBLE_DEVICES"); }

  const TemporaryFolder folder_;
  const fs::path gpu_ = folder_.path() / "nvidiactl";
  const fs::path library_ = folder_.path() / "libtorch_cuda.so";  // does not exist
};

TEST_F(FindCuda, WithoutAGpuAutoIsTheCpu) {
  const CudaState state = find_cuda({folder_.path() / "dxg"}, library_);
  EXPECT_FALSE(state.gpu);
  EXPECT_EQ(choose_device("auto", state), torch::Device(torch::kCPU));
  EXPECT_THAT(error_of("cuda", state), HasSubstr("device cuda is not available: no NVIDIA GPU is there"));
}

TEST_F(FindCuda, WithAGpuThatCannotBeUsedAutoIsAnErrorWithTheReason) {
  const CudaState state = find_cuda({folder_.path() / "dxg", gpu_}, library_);
  EXPECT_TRUE(state.gpu);
  EXPECT_FALSE(state.usable);
  EXPECT_THAT(error_of("auto", state), AllOf(HasSubstr("this machine has a GPU, but"), HasSubstr(library_.string()),
                                             HasSubstr("use device=cpu")));
  EXPECT_THAT(error_of("cuda:1", state), HasSubstr(library_.string()));
  EXPECT_EQ(choose_device("cpu", state), torch::Device(torch::kCPU));
}

TEST_F(FindCuda, AHiddenGpuIsNone) {
  for (const char* hidden : {"", "-1", "NoDevFiles"}) {
    ::setenv("CUDA_VISIBLE_DEVICES", hidden, 1);
    const CudaState state = find_cuda({gpu_}, library_);
    EXPECT_FALSE(state.gpu);
    EXPECT_EQ(choose_device("auto", state), torch::Device(torch::kCPU));
    EXPECT_THAT(error_of("cuda", state), HasSubstr("CUDA_VISIBLE_DEVICES hides"));
  }
}

TEST_F(FindCuda, AdviceFitsTheReason) {
  const std::string library_error = error_of("cuda", find_cuda({gpu_}, library_));
  EXPECT_THAT(library_error, HasSubstr("use device=cpu, or install the CUDA libraries with `make setup CUDA=1`"));
  const fs::path opens = "libm.so.6";
  EXPECT_THAT(error_of("cuda", find_cuda({gpu_}, opens)), HasSubstr("use device=cpu, or update the driver"));
  ::setenv("CUDA_VISIBLE_DEVICES", "7", 1);
  EXPECT_THAT(error_of("cuda", find_cuda({gpu_}, opens)),
              AllOf(HasSubstr("finds none of the GPUs of CUDA_VISIBLE_DEVICES=7"), HasSubstr("`nvidia-smi -L` lists")));
}

TEST_F(FindCuda, CompilesOnAMachineWithoutACudaToolkit) {
  constexpr const char* kBuiltins = "libnvrtc-builtins.so.13.0";  // the CPU set has the folder, with other libraries
  if (!fs::exists(cuda_library_folder() / kBuiltins)) GTEST_SKIP() << needs::kCuda;
  find_cuda({gpu_}, "libm.so.6");
  EXPECT_NE(::dlopen(kBuiltins, RTLD_NOW | RTLD_NOLOAD), nullptr) << "or libtorch cannot compile";
}

TEST_F(FindCuda, OtherNamesAreRefused) {
  EXPECT_THROW(choose_device("gpu", {}), UsageError);
  EXPECT_THROW(choose_device("cuda:x", {}), UsageError);
}

TEST(DriverRelease, IsReadFromTheDriver) {
  EXPECT_EQ(
      driver_release("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build  (root@x)\n"
                     "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n"),
      "580.65.06");
  EXPECT_EQ(driver_release("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Release Build\n"),
            "535.183.01");
  EXPECT_EQ(driver_release("GCC version"), "");
  EXPECT_EQ(driver_release(""), "");
}

c10::Error error_with(const std::string& text) { return c10::Error(c10::SourceLocation{__func__, __FILE__, 0}, text); }

TEST(OutOfMemory, IsFoundInWhatEveryPartOfCudaReports) {
  EXPECT_TRUE(is_out_of_memory(
      c10::OutOfMemoryError(c10::SourceLocation{__func__, __FILE__, 0}, "CUDA out of memory. Tried to allocate")));
  EXPECT_TRUE(is_out_of_memory(c10::AcceleratorError(c10::SourceLocation{__func__, __FILE__, 0}, 2,
                                                     "CUDA error: out of memory\nSearch for `cudaErrorMemory")));
  EXPECT_TRUE(
      is_out_of_memory(error_with("[enforce fail at alloc_cpu.cpp:127] DefaultCPUAllocator: can't allocate "
                                  "memory: you tried to allocate 8 bytes")));
  EXPECT_TRUE(
      is_out_of_memory(error_with("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`")));
  EXPECT_TRUE(is_out_of_memory(error_with("CUDA driver error: out of memory")));
}

TEST(OutOfMemory, IsNoneOfTheOtherErrorsOfAGpu) {
  for (const char* text : {"CUDA error: an illegal memory access was encountered",
                           "CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasGemmEx`",
                           "CUDA error: operation not permitted when stream is capturing"}) {
    EXPECT_FALSE(is_out_of_memory(error_with(text))) << text;
  }
}

}  // namespace
}  // namespace xlm
