// What the machine offers to runs: processor cores and GPUs. Free of torch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace xlm {

/// CPU cores that this process may use.
std::int64_t available_cores();

/// The GPUs that this process may use, as CUDA_VISIBLE_DEVICES names them; found without torch.
std::vector<std::string> visible_gpus();

}  // namespace xlm
