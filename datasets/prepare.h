// Making a prepared data folder from a raw corpus.
#pragma once

#include <cstdint>

#include "datasets/prepare_request.h"

namespace xlm {

struct PrepareResult {
  bool was_there = false;     // made before from the same files with the same options: no token file was made
  std::int64_t replaced = 0;  // pieces of invalid UTF-8 that became U+FFFD
};

/// Makes the folder that was asked for, whole or not at all: the same request gives the same bytes. Throws UsageError
/// for a split longer than the text and a folder in the way; DataError for missing, empty, corrupt or wrong files;
/// ResourceError when the disk is full.
PrepareResult prepare(const Preparation& preparation, const PrepareObserver& observer);

}  // namespace xlm
