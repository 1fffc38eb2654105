// Errors of the runtime, and their texts.
#include <utility>

#include "tests/null_cuda/stand_in/ledger.h"
#include "tests/null_cuda/stand_in/runtime.h"

namespace null_cuda {
namespace {

thread_local cudaError_t last_error = cudaSuccess;

struct Text {
  cudaError_t error;
  const char* name;
  const char* text;
};

/// As CUDA says them; the program looks for some.
constexpr Text kTexts[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {cudaErrorIllegalState, "cudaErrorIllegalState", "the operation cannot be performed in the present state"},
    {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"},
};

const Text& text_of(cudaError_t error) {
  for (const Text& text : kTexts) {
    if (text.error == error) return text;
  }
  static constexpr Text kOther{cudaErrorUnknown, "an error without a name here", "an error without a text here"};
  return kOther;
}

}  // namespace

cudaError_t result(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

cudaError_t state() { return result(static_cast<cudaError_t>(lasting_error())); }

}  // namespace null_cuda

extern "C" {

cudaError_t cudaGetLastError() { return std::exchange(null_cuda::last_error, cudaSuccess); }
cudaError_t cudaPeekAtLastError() { return null_cuda::last_error; }
const char* cudaGetErrorString(cudaError_t error) { return null_cuda::text_of(error).text; }
const char* cudaGetErrorName(cudaError_t error) { return null_cuda::text_of(error).name; }

}  // extern "C"
