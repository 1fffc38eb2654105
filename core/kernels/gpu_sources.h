// The text of the files in core/cuda/kernels.
#pragma once

namespace xlm {

extern const char* const kBandArgumentsText;
extern const char* const kGpuBlockText;
extern const char* const kBandTilesText;
extern const char* const kBandForwardText;
extern const char* const kBandBackwardQueriesText;
extern const char* const kBandBackwardKeysText;
extern const char* const kDropoutText;
extern const char* const kLossArgumentsText;
extern const char* const kLossRowsText;
extern const char* const kNormArgumentsText;
extern const char* const kNormRowsText;

}  // namespace xlm
