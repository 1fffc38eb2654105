// Text as ids.
#include "datasets/tokens/symbols.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "base/error.h"
#include "base/utf8.h"

namespace xlm {
namespace {

bool is_of_text8(const std::string& symbol) {
  return symbol.size() == 1 && (symbol[0] == ' ' || (symbol[0] >= 'a' && symbol[0] <= 'z'));
}

}  // namespace

std::vector<std::int64_t> encode_symbols(const Vocabulary& vocabulary, std::string_view text) {
  if (vocabulary.unit == Vocabulary::Unit::kBpe) {
    throw UsageError("the model's symbols are pieces of text (BPE); only characters and bytes can be used here");
  }
  std::unordered_map<std::string_view, std::int64_t> known;
  for (const std::string& symbol : vocabulary.symbols) known.emplace(symbol, static_cast<std::int64_t>(known.size()));
  std::vector<std::int64_t> ids;
  while (!text.empty()) {
    std::size_t bytes = 1;
    if (vocabulary.unit == Vocabulary::Unit::kCharacter) {
      const Utf8Character character = decode_utf8(text);
      if (character.kind != Utf8Character::Kind::kValid) {
        throw DataError(fmt::format("the text is not valid UTF-8 after {} characters", ids.size()));
      }
      bytes = static_cast<std::size_t>(character.bytes);
    }
    const auto found = known.find(text.substr(0, bytes));
    if (found == known.end()) {
      const bool of_text8 = std::ranges::all_of(vocabulary.symbols, is_of_text8);
      throw DataError(
          fmt::format("the text has the symbol {}, which the model does not know\n"
                      "write it like the model's training data: {}",
                      symbol_name(vocabulary.unit, std::string(text.substr(0, bytes))),
                      of_text8 ? "a to z and single spaces (--clean text8)"
                               : fmt::format("it knows {} symbols, such as {}", vocabulary.size(),
                                             symbol_name(vocabulary.unit, vocabulary.symbols.back()))));
    }
    ids.push_back(found->second);
    text.remove_prefix(bytes);
  }
  return ids;
}

}  // namespace xlm
