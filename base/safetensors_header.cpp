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

constexpr std::uint64_t kMaximumHeader = 100'000'000;  // as in the reference implementation
/// Bits of an element, for every type that the format has had so far.
constexpr std::array<std::pair<std::string_view, std::uint64_t>, 20> kElementBits{
    {{"BOOL", 8}, {"U8", 8},      {"I8", 8},      {"U16", 16},    {"I16", 16},    {"U32", 32},   {"I32", 32},
     {"U64", 64}, {"I64", 64},    {"F16", 16},    {"BF16", 16},   {"F32", 32},    {"F64", 64},   {"C64", 64},
     {"F4", 4},   {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"F8_E4M3", 8}, {"F8_E5M2", 8}, {"F8_E8M0", 8}}};

[[noreturn]] void refuse(const std::string& source, const std::string& what) {
  throw DataError(fmt::format("{} is not a valid safetensors file: {}", source, what));
}

/// Throws DataError if the tensor's bytes do not match its shape and type.
void check_length(const std::string& source, const SafetensorsEntry& entry) {
  const auto* const known =
      std::ranges::find_if(kElementBits, [&](const auto& each) { return each.first == entry.type; });
  std::uint64_t bits = known == kElementBits.end() ? 0 : known->second;
  const bool is_known = bits > 0;
  for (const std::int64_t size : entry.shape) {
    if (__builtin_mul_overflow(bits, static_cast<std::uint64_t>(size), &bits)) {
      refuse(source, fmt::format("the shape of '{}' overflows", entry.name));
    }
  }
  if (entry.end < entry.begin || (is_known && (bits % 8 != 0 || entry.end - entry.begin != bits / 8))) {
    refuse(source, fmt::format("'{}' has offsets that do not fit its shape", entry.name));
  }
}

SafetensorsEntry read_entry(const std::string& source, const std::string& name, const SortedJson& description) {
  SafetensorsEntry entry;
  entry.name = name;
  const auto bad = [&](const char* what) { refuse(source, fmt::format("'{}' has {}", name, what)); };
  if (!description.is_object()) bad("no description");
  const SortedJson type = description.value("dtype", SortedJson());
  if (!type.is_string()) bad("no type");
  entry.type = type.get<std::string>();
  const SortedJson shape = description.value("shape", SortedJson());
  const SortedJson offsets = description.value("data_offsets", SortedJson());
  if (!shape.is_array() || shape.size() > 16) bad("no shape");
  for (const SortedJson& size : shape) {
    if (!size.is_number_unsigned() || size.get<std::uint64_t>() > (std::uint64_t{1} << 62U)) bad("an impossible shape");
    entry.shape.push_back(size.get<std::int64_t>());
  }
  if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
      !offsets[1].is_number_unsigned()) {
    bad("no data_offsets");
  }
  entry.begin = offsets[0].get<std::uint64_t>();
  entry.end = offsets[1].get<std::uint64_t>();
  check_length(source, entry);
  return entry;
}

std::map<std::string, std::string> read_metadata(const std::string& source, const SortedJson& description) {
  std::map<std::string, std::string> metadata;
  if (description.is_null()) return metadata;
  if (!description.is_object()) refuse(source, "metadata that is no map");
  for (const auto& [key, value] : description.items()) {
    if (!value.is_string()) refuse(source, "metadata that is not text");
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

}  // namespace

SafetensorsHeader parse_safetensors_header(std::string_view file, const std::string& source) {
  refuse_pointer(file, source);
  std::uint64_t length = 0;
  if (file.size() < sizeof(length)) refuse(source, "shorter than its header's length");
  std::memcpy(&length, file.data(), sizeof(length));
  if (length > kMaximumHeader || length > file.size() - sizeof(length)) {
    refuse(source, fmt::format("a header of {} bytes in a file of {}", length, file.size()));
  }
  const SortedJson json = parse_sorted_json(file.substr(sizeof(length), length), source);
  if (!json.is_object()) refuse(source, "the header is not a map");
  SafetensorsHeader header;
  for (const auto& [name, description] : json.items()) {
    if (name == "__metadata__") {
      header.metadata = read_metadata(source, description);
    } else {
      header.entries.push_back(read_entry(source, name, description));
    }
  }
  std::ranges::stable_sort(header.entries, [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
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
