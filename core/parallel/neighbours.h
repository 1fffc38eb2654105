// The connections of a process to its two neighbours. The processes of a run form a ring: each sends to the next rank
// and receives from the previous one.
#pragma once

#include <utility>

#include "core/api/interface.h"

namespace xlm {

/// A socket that is closed with its owner.
class Socket {
 public:
  explicit Socket(int descriptor = -1) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~Socket();

  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

/// Both are non-blocking.
struct Neighbours {
  Socket previous;  // to receive from
  Socket next;      // to send to
};

/// Finds them: by Unix sockets on one machine, by TCP if `self` has an address. Both sides of a connection prove that
/// they know the secret before they trust any data; a caller without it is rejected, and the wait for the neighbour
/// continues. Throws LostProcessError if not all arrive within `patience`, if one has ended, or if all are to stop;
/// Error if this process cannot be reached.
Neighbours find_neighbours(const Processes& self);

}  // namespace xlm
