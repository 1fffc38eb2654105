// The text of the files in core/cuda/kernels.
#pragma once

namespace xlm {

extern const char* const kBandArgumentsText;
extern const char* const kGpuBlockText;
extern const char* const kBandAttentionText;

}  // namespace xlm
