// The header of a safetensors file.
#include "base/safetensors_header.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "base/pointer_file.h"

namespace xlm {
namespace {

constexpr std::uint64_t kMaximumHeader = 100'000'000;  // as the reference implementation
constexpr std::array<std::pair<std::string_view, std::uint64_t>, 9> kElementSizes{
    {{"F64", 8}, {"F32", 4}, {"F16", 2}, {"BF16", 2}, {"I64", 8}, {"I32", 4}, {"I16", 2}, {"I8", 1}, {"U8", 1}}};

[[noreturn]] void refuse(const std::string& source, const std::string& what) {
  throw DataError(fmt::format("{} is not a valid safetensors file: {}", source, what));
}

/// Product of the shape and the element's size; fails on overflow.
std::uint64_t byte_count(const std::string& source, const SafetensorsEntry& entry) {
  std::uint64_t bytes = safetensors_element_size(entry.type);
  for (const std::int64_t size : entry.shape) {
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes)) {
      refuse(source, fmt::format("the shape of '{}' overflows", entry.name));
    }
  }
  return bytes;
}

SafetensorsEntry read_entry(const std::string& source, const std::string& name, const Json& description) {
  SafetensorsEntry entry;
  entry.name = name;
  const auto bad = [&](const char* what) { refuse(source, fmt::format("'{}' has {}", name, what)); };
  if (!description.is_object()) bad("no description");
  const Json type = description.value("dtype", Json());
  if (type.is_string()) entry.type = type.get<std::string>();
  if (safetensors_element_size(entry.type) == 0) {
    refuse(source, fmt::format("'{}' has the type {}, which is not read", name, type.dump()));
  }
  const Json shape = description.value("shape", Json());
  const Json offsets = description.value("data_offsets", Json());
  if (!shape.is_array() || shape.size() > 16) bad("no shape");
  for (const Json& size : shape) {
    if (!size.is_number_unsigned() || size.get<std::uint64_t>() > (std::uint64_t{1} << 62U)) bad("an impossible shape");
    entry.shape.push_back(size.get<std::int64_t>());
  }
  if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
      !offsets[1].is_number_unsigned()) {
    bad("no data_offsets");
  }
  entry.begin = offsets[0].get<std::uint64_t>();
  entry.end = offsets[1].get<std::uint64_t>();
  if (entry.end < entry.begin || entry.end - entry.begin != byte_count(source, entry)) {
    bad("offsets that do not fit its shape");
  }
  return entry;
}

std::map<std::string, std::string> read_metadata(const std::string& source, const Json& description) {
  if (!description.is_object()) refuse(source, "metadata that is no map");
  std::map<std::string, std::string> metadata;
  for (const auto& [key, value] : description.items()) {
    if (!value.is_string()) refuse(source, "metadata that is not text");
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

}  // namespace

std::uint64_t safetensors_element_size(std::string_view type) {
  const auto* const known =
      std::find_if(kElementSizes.begin(), kElementSizes.end(), [&](const auto& entry) { return entry.first == type; });
  return known == kElementSizes.end() ? 0 : known->second;
}

SafetensorsHeader parse_safetensors_header(std::string_view file, const std::string& source) {
  refuse_pointer(file, source);
  std::uint64_t length = 0;
  if (file.size() < sizeof(length)) refuse(source, "shorter than its header's length");
  std::memcpy(&length, file.data(), sizeof(length));
  if (length > kMaximumHeader || length > file.size() - sizeof(length)) {
    refuse(source, fmt::format("a header of {} bytes in a file of {}", length, file.size()));
  }
  const Json json = parse_json(file.substr(sizeof(length), length), source);
  if (!json.is_object()) refuse(source, "the header is not a map");
  SafetensorsHeader header;
  for (const auto& [name, description] : json.items()) {
    if (name == "__metadata__") {
      header.metadata = read_metadata(source, description);
    } else {
      header.entries.push_back(read_entry(source, name, description));
    }
  }
  std::stable_sort(header.entries.begin(), header.entries.end(),
                   [](const SafetensorsEntry& a, const SafetensorsEntry& b) { return a.begin < b.begin; });
  const std::uint64_t start = sizeof(length) + length;
  std::uint64_t expected = 0;
  for (SafetensorsEntry& entry : header.entries) {
    if (entry.begin < expected) refuse(source, fmt::format("'{}' overlaps another tensor", entry.name));
    if (entry.begin > expected) refuse(source, fmt::format("a gap before '{}'", entry.name));
    if (entry.end > file.size() - start) {
      refuse(source, fmt::format("'{}' lies outside the file (cut short?)", entry.name));
    }
    expected = entry.end;
    entry.begin += start;
    entry.end += start;
  }
  if (expected != file.size() - start) refuse(source, "bytes after the last tensor");
  return header;
}

}  // namespace xlm
