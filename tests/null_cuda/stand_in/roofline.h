// A model of how long a GPU takes for what is started: bytes over the bandwidth of memory, arithmetic over the rate of
// products, and no less than the start of a kernel takes. Not measured on any GPU: good for comparing versions.
#pragma once

#include <string>

#include "core/cuda/kernels/band_arguments.h"
#include "tests/null_cuda/stand_in/band_launch.h"

namespace null_cuda {

/// A copy or a fill that moves so many bytes of a GPU's memory.
void model_copy(double bytes);

/// `batch` products [m, k] · [k, n] of elements of so many bytes.
void model_product(double m, double n, double k, double batch, int element_bytes);

/// A kernel of libtorch, by its mangled name. `elements` is its first argument, if that is a number of elements.
void model_kernel(const std::string& name, double threads, double elements);

/// One of the program's own attention kernels on so many heads of the whole batch.
void model_attention(BandPass pass, const xlm::band::Arguments& arguments, int heads);

}  // namespace null_cuda
