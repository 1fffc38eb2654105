// The manifest of a frozen copy of code: its files and links, and the hash that is their name.
#pragma once

#include <string>
#include <vector>

#include "base/files.h"
#include "experiments/programs/code_snapshot.h"

namespace xlm {

/// 16 digits of paths, kinds and contents. Where the copies of links lead is no part of it.
std::string hash_of_code(const std::vector<CodeFile>& files);

/// Whether a link's target, as text, lies in the folder of the code.
bool points_inside(const std::string& path, const std::string& target);

void write_manifest(const Code& code, const fs::path& file);

/// Reads a manifest, which may come from others. Throws DataError if it is malformed, names a file twice, outside of
/// the copy or behind one of its links, or has a link that does not lead where its target says.
Code read_manifest(const fs::path& file);

}  // namespace xlm
