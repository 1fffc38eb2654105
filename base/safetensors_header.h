// The header of a safetensors file: names, types, shapes and places of its tensors, checked before anything is read.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace xlm {

/// One tensor of the file.
struct SafetensorsEntry {
  std::string name;
  std::string type;  // "F32"
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;  // its first byte, counted from the file's start
  std::uint64_t end = 0;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;        // in the order of their places
  std::map<std::string, std::string> metadata;  // "__metadata__"
};

/// `file` is the whole file, `source` its name. Throws DataError with both and the tensor if the header's length is
/// absurd, if a shape overflows or does not match its type, or if tensors overlap, leave gaps or lie outside the file.
/// An unknown type is not an error here: the tensor may be unused.
SafetensorsHeader parse_safetensors_header(std::string_view file, const std::string& source);

}  // namespace xlm
