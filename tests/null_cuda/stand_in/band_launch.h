// The program's own attention kernels, run by fibers on the GPU's memory (setting "values"), as the tests of core do.
#pragma once

#include <string>

#include "core/cuda/kernels/band_arguments.h"

namespace null_cuda {

/// One of the kernels.
enum class BandPass { kForward, kBackwardQueries, kBackwardKeys };

/// Its name after "attention_".
const char* name_of(BandPass pass);

/// Tiles of rows, which are its grid's first dimension.
int tiles_of(BandPass pass, const xlm::band::Arguments& arguments);

/// Which kind of kernel the arguments belong to.
xlm::band::Kind kind_of(const xlm::band::Arguments& arguments);

/// Bytes of shared memory that it needs.
int shared_memory_of(BandPass pass, const xlm::band::Kind& kind);

/// Fills what the kernel reads with numbers that follow from addresses, because no other kernel has computed it. Runs
/// the kernel, and writes its arguments, what it read and what it computed to a new file in `folder` (band_record.h):
/// of the backward pass one file, after its second kernel.
void run_band_kernel(BandPass pass, const xlm::band::Arguments& arguments, int heads, const std::string& folder);

}  // namespace null_cuda
