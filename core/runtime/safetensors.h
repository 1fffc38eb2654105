// The safetensors format: a JSON header with names, types, shapes and offsets, then the tensors' bytes.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <torch/torch.h>

#include "base/files.h"

namespace xlm {

using NamedTensors = std::vector<std::pair<std::string, torch::Tensor>>;

struct TensorFile {
  NamedTensors tensors;                         // in the order of their offsets, on the CPU
  std::map<std::string, std::string> metadata;  // the header's "__metadata__"
};

/// Reads a whole file. Throws DataError with the file and the tensor if the header's length is absurd, if a type is
/// unknown, if a shape overflows, or if offsets overlap, leave gaps or lie outside the file; also if the content does
/// not have the hash that write_safetensors stored. Files of other programs have no hash; `ignored` tells which of
/// their tensors are skipped, of any type.
TensorFile read_safetensors(const fs::path& path, const std::function<bool(const std::string&)>& ignored = {});

/// The same for a file that only write_safetensors writes: without a hash it is damaged, too.
TensorFile read_hashed_safetensors(const fs::path& path);

/// Writes atomically: a reader sees the old file or the new one. Tensors may be on any device. The metadata gets the
/// SHA-256 of everything else, as "xlm.sha256".
void write_safetensors(const fs::path& path, const NamedTensors& tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace xlm
