// What this process may use of its machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"

namespace xlm {

/// CPU cores that this process may use: those of its affinity, but not more than the processor time that its control
/// group allows (cgroup v1 and v2, as in containers), rounded up. `root` is the folder that holds proc/ and sys/.
std::int64_t available_cores(const fs::path& root = "/");

/// A control group that rules over this process: its folder below sys/fs/cgroup.
struct ControlGroup {
  fs::path folder;
  bool is_second_version = false;
};

/// The group whose `controller` ("cpu", "memory") rules over this process, and those that hold it, of both versions. A
/// container sees its own group as the top of the tree. `root` is the folder that holds proc/ and sys/.
std::vector<ControlGroup> control_groups(std::string_view controller, const fs::path& root = "/");

/// The GPUs that CUDA_VISIBLE_DEVICES names, by number or UUID, up to its first entry that names none ("-1", "none",
/// "NoDevFiles"), where CUDA stops, too. No GPU if NVIDIA_VISIBLE_DEVICES of a container is "void" or "none". nullopt
/// if neither variable says.
std::optional<std::vector<std::string>> named_gpus();

}  // namespace xlm
