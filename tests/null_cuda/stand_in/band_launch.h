// The program's own attention kernels, run by fibers on the GPU's memory (setting "values"), as the tests of core do.
#pragma once

#include <string>

#include "core/cuda/kernels/band_arguments.h"

namespace null_cuda {

/// Which kernel the arguments belong to.
xlm::band::Kind kind_of(const xlm::band::Arguments& arguments);

/// Bytes of shared memory that it needs.
int shared_memory_of(bool forward, const xlm::band::Kind& kind);

/// Fills what the kernel reads with numbers that follow from addresses, because no other kernel has computed it. Runs
/// the kernel, and writes its arguments, what it read and what it computed to a new file in `folder` (band_record.h).
void run_band_kernel(bool forward, const xlm::band::Arguments& arguments, int tiles, int heads,
                     const std::string& folder);

}  // namespace null_cuda
