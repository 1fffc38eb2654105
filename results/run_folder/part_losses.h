// Reads the losses of the parts of a split. Private to this folder.
#pragma once

#include "base/json.h"
#include "results/run_folder/run_folder.h"

namespace xlm {

/// The content of a journal's record "losses". Throws Json::exception if something is missing, of a wrong type, or
/// means nothing: each part needs a count of tokens and a finite sum.
RunLosses part_losses(const Json& record);

}  // namespace xlm
