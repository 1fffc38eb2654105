// A folder of the Hugging Face `datasets` library, or of its hub, on disk.
#pragma once

#include "datasets/prepare_request.h"

namespace xlm {

/// Fills in which files of `folder` a request reads: its Parquet and Arrow shards as training, validation and test,
/// where the names of files or folders say so (train-00000-of-00002.parquet; train/data-00000-of-00001.arrow);
/// otherwise all of them as one text, which --split divides. Throws DataError where there are no shards, where
/// those of one split lie in several folders, which are several data sets, and where some say their split and others
/// do not.
void find_shards(const fs::path& folder, PrepareRequest& request);

}  // namespace xlm
