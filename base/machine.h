// What this process may use of its machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"

namespace xlm {

/// CPU cores that this process may use: those of its affinity, but not more than the processor time that its control
/// group allows (cgroup v1 and v2, as in containers), rounded up. `root` is the folder that holds proc/ and sys/.
std::int64_t available_cores(const fs::path& root = "/");

/// The GPUs that CUDA_VISIBLE_DEVICES names, by number or UUID, up to its first entry that names none ("-1", "none",
/// "NoDevFiles"), where CUDA stops, too. No GPU if NVIDIA_VISIBLE_DEVICES of a container is "void" or "none". nullopt
/// if neither variable says.
std::optional<std::vector<std::string>> named_gpus();

}  // namespace xlm
