// The connections of a process to its two neighbours. The processes of a run form a ring: each sends to the next rank
// and receives from the one before.
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

/// Both do not block.
struct Neighbours {
  Socket previous;  // to receive from
  Socket next;      // to send to
};

/// Finds them: by Unix sockets on one machine, by TCP where `self` has an address. Both sides of a connection prove
/// that they know the secret before either believes a byte; a caller without it is sent away, and the neighbour is
/// awaited on. Throws LostProcessError where not all come while `patience` lasts, one has ended, or all are to stop;
/// Error where this process cannot be reached.
Neighbours find_neighbours(const Processes& self);

}  // namespace xlm
