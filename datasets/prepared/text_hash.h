// Which text a split holds, whatever its unit: numbers for each byte of the same text can be compared.
#pragma once

#include <map>
#include <string>

#include "base/files.h"

namespace xlm {

/// The SHA-256 of the text of validation and test as decoded, with where its documents begin, by split. A split is left
/// out in which characters are unknown. Kept with the verified hashes of the folder, so a split is read once.
std::map<std::string, std::string> text_hashes(const fs::path& folder);

}  // namespace xlm
