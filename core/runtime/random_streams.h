// The independent sequences of random numbers that a run draws from its seed (base/random.h).
#pragma once

#include <cstdint>

namespace xlm {

inline constexpr std::uint64_t kStreamOffsets = 1;  // where the rows of the training text start; index: the round
inline constexpr std::uint64_t kDropout = 2;        // seeds libtorch's generator; index: the step
inline constexpr std::uint64_t kEvaluation = 3;     // seeds libtorch's generator before an evaluation
inline constexpr std::uint64_t kRotations =
    4;  // by how much the rows of the training text are rotated; index: the epoch
inline constexpr std::uint64_t kChunkOrder = 5;     // the order of their chunks; index: the epoch
inline constexpr std::uint64_t kRandomWindows = 6;  // where windows start; index: the row
inline constexpr std::uint64_t kSampling = 100;     // the tokens of a continuation; index: the position

}  // namespace xlm
