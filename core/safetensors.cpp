// Reading and writing safetensors.
#include "core/safetensors.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"

namespace xlm {
namespace {

constexpr std::uint64_t kMaximumHeader = 100'000'000;  // as the reference implementation

struct TypeName {
  const char* name;
  torch::ScalarType type;
};
constexpr std::array<TypeName, 9> kTypes{{{"F64", torch::kDouble},
                                          {"F32", torch::kFloat},
                                          {"F16", torch::kHalf},
                                          {"BF16", torch::kBFloat16},
                                          {"I64", torch::kLong},
                                          {"I32", torch::kInt},
                                          {"I16", torch::kShort},
                                          {"I8", torch::kChar},
                                          {"U8", torch::kByte}}};

struct Entry {
  std::string name;
  torch::ScalarType type = torch::kFloat;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

[[noreturn]] void fail(const fs::path& path, const std::string& what) {
  throw DataError(fmt::format("{} is not a valid safetensors file: {}", path.string(), what));
}

/// Product of the shape and the element's size; fails on overflow.
std::uint64_t byte_count(const fs::path& path, const Entry& entry) {
  std::uint64_t bytes = torch::elementSize(entry.type);
  for (const std::int64_t size : entry.shape) {
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes)) {
      fail(path, fmt::format("the shape of '{}' overflows", entry.name));
    }
  }
  return bytes;
}

Entry read_entry(const fs::path& path, const std::string& name, const Json& description) {
  Entry entry;
  entry.name = name;
  const auto bad = [&](const char* what) { fail(path, fmt::format("'{}' has {}", name, what)); };
  if (!description.is_object()) bad("no description");
  const Json type = description.value("dtype", Json());
  const auto known = std::find_if(kTypes.begin(), kTypes.end(), [&](const TypeName& t) { return type == t.name; });
  if (known == kTypes.end()) fail(path, fmt::format("'{}' has the type {}, which is not read", name, type.dump()));
  entry.type = known->type;
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
  if (entry.end < entry.begin || entry.end - entry.begin != byte_count(path, entry)) {
    bad("offsets that do not fit its shape");
  }
  return entry;
}

std::uint64_t header_length(const fs::path& path, const MappedFile& file) {
  std::uint64_t length = 0;
  if (file.size() < sizeof(length)) fail(path, "shorter than its header's length");
  std::memcpy(&length, file.data(), sizeof(length));
  if (length > kMaximumHeader || length > file.size() - sizeof(length)) {
    fail(path, fmt::format("a header of {} bytes in a file of {}", length, file.size()));
  }
  return length;
}

}  // namespace

TensorFile read_safetensors(const fs::path& path) {
  const MappedFile file(path);
  const std::uint64_t length = header_length(path, file);
  const Json header = parse_json(file.text().substr(8, length), path.string());
  if (!header.is_object()) fail(path, "the header is not a map");
  TensorFile result;
  std::vector<Entry> entries;
  for (const auto& [name, description] : header.items()) {
    if (name != "__metadata__") {
      entries.push_back(read_entry(path, name, description));
      continue;
    }
    for (const auto& [key, value] : description.items()) {
      if (!value.is_string()) fail(path, "metadata that is not text");
      result.metadata[key] = value.get<std::string>();
    }
  }
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.begin < b.begin; });
  const std::uint64_t start = 8 + length;
  std::uint64_t expected = 0;
  for (const Entry& entry : entries) {
    if (entry.begin < expected) fail(path, fmt::format("'{}' overlaps another tensor", entry.name));
    if (entry.begin > expected) fail(path, fmt::format("a gap before '{}'", entry.name));
    if (entry.end > file.size() - start) fail(path, fmt::format("'{}' lies outside the file (cut short?)", entry.name));
    torch::Tensor tensor = torch::empty(entry.shape, entry.type);
    if (entry.end > entry.begin)
      std::memcpy(tensor.data_ptr(), file.data() + start + entry.begin, entry.end - entry.begin);
    result.tensors.emplace_back(entry.name, std::move(tensor));
    expected = entry.end;
  }
  if (expected != file.size() - start) fail(path, "bytes after the last tensor");
  return result;
}

void write_safetensors(const fs::path& path, const NamedTensors& tensors,
                       const std::map<std::string, std::string>& metadata) {
  Json header = Json::object();
  if (!metadata.empty()) {
    Json map = Json::object();
    for (const auto& [key, value] : metadata) map[key] = value;
    header["__metadata__"] = map;
  }
  std::uint64_t offset = 0;
  for (const auto& [name, tensor] : tensors) {
    const auto known =
        std::find_if(kTypes.begin(), kTypes.end(), [&](const TypeName& t) { return t.type == tensor.scalar_type(); });
    if (known == kTypes.end()) throw Error(fmt::format("'{}' has a type that safetensors does not hold", name));
    const std::uint64_t end = offset + tensor.nbytes();
    header[name] = {{"dtype", known->name}, {"shape", tensor.sizes().vec()}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');  // tensors start aligned
  const std::uint64_t length = text.size();
  AtomicFile file(path);
  file.write(&length, sizeof(length));
  file.write(text);
  for (const auto& [name, tensor] : tensors) {
    const torch::Tensor plain = tensor.detach().to(torch::kCPU).contiguous();
    file.write(plain.data_ptr(), plain.nbytes());
  }
  file.commit();
}

}  // namespace xlm
