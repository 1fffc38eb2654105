// Room below a memory limit for those who cannot do without.
#pragma once

#include <cstdint>
#include <string_view>

namespace xlm {

/// Makes tensors leave 48 MiB of what `ulimit -v` or `ulimit -d` allow this process to others: the code that libtorch
/// generates for its products, for one, ends the program where it finds no memory, while a tensor's want of it is an
/// error that a run survives. Does nothing where there is no such limit.
void keep_memory_reserve();

/// Throws ResourceError where these limits leave less than what threads and generated code take before the first
/// tensor: without it libtorch ends the program with a signal.
void check_memory_room();

/// Bytes below the limits: `statm` is the content of /proc/self/statm, in pages; a limit of RLIM_INFINITY is none.
std::int64_t room_below(std::string_view statm, std::int64_t page, std::uint64_t address_space, std::uint64_t data);

}  // namespace xlm
