// The files that a request reads, their order, and the split of each.
#pragma once

#include <vector>

#include "datasets/prepare_request.h"

namespace xlm {

/// The files of the request, in the order in which the corpus reads them. Each has its split if the request gives it.
/// If only names give it, files of text follow them unless --split divides the whole. Throws DataError if the names are
/// not clear, UsageError for a folder where one file is needed.
std::vector<SourceFile> request_sources(const Preparation& preparation, const PrepareObserver& observer);

}  // namespace xlm
