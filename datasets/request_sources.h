// Which files a request reads, in what order, and which split each is of.
#pragma once

#include <vector>

#include "datasets/prepare_request.h"

namespace xlm {

/// The files of the request as the corpus reads them. Where it says which split each is of, they know it; where only
/// names say it, files of text go by them unless --split divides the whole. Throws DataError where names do not say it
/// clearly, UsageError for a folder where one file is needed.
std::vector<SourceFile> request_sources(const Preparation& preparation, const PrepareObserver& observer);

}  // namespace xlm
