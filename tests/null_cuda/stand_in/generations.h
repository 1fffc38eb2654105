// What a compute capability decides.
#pragma once

namespace null_cuda {

struct Generation {
  int capability;                // × 10
  int compiled;                  // of the code that libtorch has for it, × 10: there is none for 8.9 alone
  int shared_of_block;           // most bytes of shared memory that a block may ask for
  int shared_of_multiprocessor;  // bytes
  int threads;                   // of a multiprocessor
  int multiprocessors;           // of a usual card
};

/// That of the settings' capability; that of 9.0 for one that is not in the table.
const Generation& generation();

}  // namespace null_cuda
