// What a program that runs on the stand-in can ask it. The functions are in libnull_device.so. A program finds them by
// dlsym, so that it also runs without the stand-in.
#pragma once

#include <cstddef>

namespace null_cuda {

/// What was asked of the GPU.
struct Counts {
  long launches = 0;         // kernels of libtorch, and the program's own
  long products = 0;         // calls of cuBLAS and cuBLASLt
  long sums = 0;             // calls of NCCL
  long graph_launches = 0;   // replays of recordings
  long copies = 0;           // of any kind, fills included
  long pageable_copies = 0;  // between the GPU and memory of the host that is not pinned
  long waits = 0;            // for a stream or an event
  long device_waits = 0;     // for the whole GPU
  long allocations = 0;      // of the GPU's memory
};

/// What one copy of so many bytes from the GPU brings: the numbers, repeated. No kernel runs, so no kernel has computed
/// what is there.
enum class AnswerType { kInteger, kReal };

extern "C" {
/// The counts of the last piece of work between two waits for the whole GPU.
using LastStep = void (*)(Counts* counts);
/// The most bytes of a GPU that were allocated since the last call.
using TakePeak = std::size_t (*)(int device);
/// Waits for the whole GPU so far.
using DeviceWaits = long (*)();
using SetAnswer = void (*)(std::size_t bytes, AnswerType type, const double* numbers, std::size_t count);
using ClearAnswers = void (*)();
}

inline constexpr const char* kLastStep = "null_cuda_last_step";
inline constexpr const char* kTakePeak = "null_cuda_take_peak";
inline constexpr const char* kDeviceWaits = "null_cuda_device_waits";
inline constexpr const char* kSetAnswer = "null_cuda_set_answer";
inline constexpr const char* kClearAnswers = "null_cuda_clear_answers";

}  // namespace null_cuda
