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

/// Reads a whole file. Throws DataError naming the file and the tensor for a header of absurd length, an unknown type,
/// shapes whose product overflows, and offsets that overlap, leave gaps or lie outside the file; and for a content that
/// does not have the hash that write_safetensors gave it. Files of other programs have none, and of these `ignored`
/// says which tensors are passed over, of whatever type.
TensorFile read_safetensors(const fs::path& path, const std::function<bool(const std::string&)>& ignored = {});

/// The same of a file that only write_safetensors writes: one without a hash is damaged, too.
TensorFile read_hashed_safetensors(const fs::path& path);

/// Writes atomically: a reader sees the old file or the new one. Tensors may lie on any device. The metadata gets the
/// SHA-256 of all the rest, as "xlm.sha256".
void write_safetensors(const fs::path& path, const NamedTensors& tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace xlm
