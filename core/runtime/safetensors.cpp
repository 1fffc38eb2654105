// Reading and writing safetensors.
#include "core/runtime/safetensors.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/json.h"
#include "base/safetensors_header.h"
#include "base/sha256.h"

namespace xlm {
namespace {

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

constexpr const char* kHash = "xlm.sha256";

/// SHA-256 over the metadata, and over names, types, shapes and bytes of the tensors.
std::string content_hash(const NamedTensors& tensors, const std::map<std::string, std::string>& metadata) {
  Sha256 hash;
  for (const auto& [key, value] : metadata) {
    if (key != kHash) hash.update(fmt::format("{}={}\n", key, value));
  }
  for (const auto& [name, tensor] : tensors) {
    const torch::Tensor plain = tensor.detach().to(torch::kCPU).contiguous();
    hash.update(fmt::format("{} {} [{}]", name, torch::toString(plain.scalar_type()), fmt::join(plain.sizes(), ",")));
    hash.update(plain.data_ptr(), plain.nbytes());
  }
  return hash.finish();
}

}  // namespace

TensorFile read_safetensors(const fs::path& path, const std::function<bool(const std::string&)>& ignored) {
  const MappedFile file(path);
  SafetensorsHeader header = parse_safetensors_header(file.text(), path.string());
  TensorFile result{.tensors = {}, .metadata = std::move(header.metadata)};
  const bool is_foreign = !result.metadata.contains(kHash);
  for (const SafetensorsEntry& entry : header.entries) {
    if (is_foreign && ignored && ignored(entry.name)) continue;
    const auto* const type = std::ranges::find_if(kTypes, [&](const TypeName& t) { return entry.type == t.name; });
    if (type == kTypes.end()) {
      throw DataError(fmt::format("{}: the tensor '{}' has the type '{}', which is not read", path.string(), entry.name,
                                  entry.type));
    }
    torch::Tensor tensor = torch::empty(entry.shape, type->type);
    if (entry.end > entry.begin) std::memcpy(tensor.data_ptr(), file.data() + entry.begin, entry.end - entry.begin);
    result.tensors.emplace_back(entry.name, std::move(tensor));
  }
  const auto hash = result.metadata.find(kHash);
  if (hash != result.metadata.end() && content_hash(result.tensors, result.metadata) != hash->second) {
    throw DataError(fmt::format("{} is corrupt: its content does not have the hash it was saved with", path.string()));
  }
  return result;
}

TensorFile read_hashed_safetensors(const fs::path& path) {
  TensorFile file = read_safetensors(path);
  if (!file.metadata.contains(kHash)) {
    throw DataError(fmt::format("{} is corrupt: it has lost the hash it was saved with", path.string()));
  }
  return file;
}

void write_safetensors(const fs::path& path, const NamedTensors& tensors,
                       const std::map<std::string, std::string>& metadata) {
  Json header = {{"__metadata__", metadata}};
  header["__metadata__"][kHash] = content_hash(tensors, metadata);
  std::uint64_t offset = 0;
  for (const auto& [name, tensor] : tensors) {
    const auto known = std::ranges::find_if(kTypes, [&](const TypeName& t) { return t.type == tensor.scalar_type(); });
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
