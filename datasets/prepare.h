// Making a prepared data folder from a raw corpus.
#pragma once

#include <cstdint>

#include "datasets/prepare_request.h"

namespace xlm {

struct PrepareResult {
  bool was_there = false;     // existed already, from the same files with the same options: no token file was made
  std::int64_t replaced = 0;  // pieces of invalid UTF-8 that became U+FFFD
};

/// Makes the requested folder, whole or not at all; the same request gives the same bytes. Throws UsageError for a
/// split longer than the text and for a folder in the way; DataError for missing, empty, corrupt or wrong files;
/// ResourceError if the disk is full.
PrepareResult prepare(const Preparation& preparation, const PrepareObserver& observer);

}  // namespace xlm
