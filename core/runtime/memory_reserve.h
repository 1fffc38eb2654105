// A reserve below a memory limit, for code that fails without memory.
#pragma once

#include <cstdint>
#include <string_view>

namespace xlm {

/// Makes tensors leave 48 MiB below `ulimit -v` and `ulimit -d` to other code. The code that libtorch generates for its
/// products, for example, ends the program if it finds no memory, while a run survives a failed allocation of a tensor.
/// Does nothing without such a limit.
void keep_memory_reserve();

/// Throws ResourceError if these limits leave less than threads and generated code need before the first tensor:
/// libtorch would end the program with a signal.
void check_memory_room();

/// Bytes below the limits: `statm` is the content of /proc/self/statm, in pages; RLIM_INFINITY is no limit.
std::int64_t room_below(std::string_view statm, std::int64_t page, std::uint64_t address_space, std::uint64_t data);

}  // namespace xlm
