// Views of a prepared data folder.
#include "datasets/prepared/inspection.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "datasets/prepared/segmentation.h"
#include "datasets/tokens/decoder.h"

namespace xlm {

std::vector<SymbolCount> count_symbols(const Vocabulary& vocabulary, const Split& split) {
  constexpr std::int64_t kBlock = std::int64_t{1} << 16;
  std::vector<std::int64_t> counts(static_cast<std::size_t>(vocabulary.size()));
  std::vector<std::int64_t> ids(static_cast<std::size_t>(kBlock));
  for (std::int64_t begin = 0; begin < split.tokens.size(); begin += kBlock) {
    const std::int64_t block = std::min(kBlock, split.tokens.size() - begin);
    split.tokens.copy(begin, block, ids.data());
    for (std::int64_t i = 0; i < block; ++i) {
      ++counts[static_cast<std::size_t>(ids[static_cast<std::size_t>(i)])];
    }
  }
  std::vector<SymbolCount> symbols;
  for (std::size_t id = 0; id < counts.size(); ++id) {
    if (counts[id] > 0) symbols.push_back({vocabulary.symbols[id], counts[id]});
  }
  std::ranges::stable_sort(symbols, [](const SymbolCount& a, const SymbolCount& b) { return a.count > b.count; });
  return symbols;
}

std::string decode(const Vocabulary& vocabulary, const Split& split, std::int64_t begin, std::int64_t end) {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(std::max<std::int64_t>(0, end - begin)));
  split.tokens.copy(begin, static_cast<std::int64_t>(ids.size()), ids.data());
  const std::vector<std::string> symbols = symbol_bytes(vocabulary);
  std::string bytes;
  for (const std::int64_t id : ids) {
    bytes += symbols[static_cast<std::size_t>(id)];
  }
  std::string text;
  Utf8Repair repair;
  repair.write(bytes, text);
  repair.finish(text);
  return text;
}

void verify_prepared(const PreparedData& data) {
  for (const auto& [name, hash] : data.meta.at("outputs").items()) {
    const fs::path file = data.path / name;
    if (!hash.is_string() || sha256_file(file) != hash.get<std::string>()) {
      throw DataError(fmt::format("{} is damaged: its sha256 differs from the one in meta.json\nprepare the data again",
                                  file.string()));
    }
  }
  verify_segmentations(data);
}

}  // namespace xlm
