// Vocabularies.
#include "datasets/tokens/vocabulary.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"

namespace xlm {
namespace {

constexpr std::array<std::string_view, 3> kUnitNames{"character", "byte", "bpe"};
constexpr std::uintmax_t kMaxVocabularyBytes = std::uintmax_t{256} << 20;

std::string read_symbol(const Json& value, Vocabulary::Unit unit, std::size_t index, const std::string& source) {
  const auto bad = [&](const char* expected) {
    return DataError(fmt::format("{}: symbol {} is {}, not {}", source, index, value.dump(), expected));
  };
  if (unit == Vocabulary::Unit::kByte) {
    if (!value.is_number_integer() || value < 0 || value > 255) throw bad("a number from 0 to 255");
    return std::string(1, static_cast<char>(value.get<int>()));
  }
  if (!value.is_string()) throw bad("a string");
  std::string symbol = value.get<std::string>();
  if (unit == Vocabulary::Unit::kCharacter) {
    const bool one = !symbol.empty() && decode_utf8(symbol).kind == Utf8Character::Kind::kValid &&
                     decode_utf8(symbol).bytes == static_cast<int>(symbol.size());
    if (!one) throw bad("one character");
  }
  return symbol;
}

}  // namespace

int Vocabulary::id_bytes() const { return size() <= 256 ? 1 : size() <= 65536 ? 2 : 4; }

Vocabulary parse_vocabulary(std::string_view text, const std::string& source) {
  const Json json = parse_json(text, source);
  const auto bad = [&](const std::string& what) { return DataError(fmt::format("{} is malformed: {}", source, what)); };
  if (!json.is_object() || !json.contains("unit") || !json["unit"].is_string()) throw bad("no text 'unit'");
  if (!json.contains("symbols") || !json["symbols"].is_array()) throw bad("no list 'symbols'");
  const std::string unit = json["unit"].get<std::string>();
  const auto* const name = std::ranges::find(kUnitNames, unit);
  if (name == kUnitNames.end()) throw bad(fmt::format("unit '{}' is not one of character, byte, bpe", unit));
  if (json["symbols"].empty()) throw bad("the list of symbols is empty");

  Vocabulary vocabulary;
  vocabulary.unit = static_cast<Vocabulary::Unit>(name - kUnitNames.begin());
  std::unordered_set<std::string> seen;
  for (const Json& value : json["symbols"]) {
    std::string symbol = read_symbol(value, vocabulary.unit, vocabulary.symbols.size(), source);
    if (!seen.insert(symbol).second) {
      throw bad(fmt::format("the symbol {} occurs twice", symbol_name(vocabulary.unit, symbol)));
    }
    vocabulary.symbols.push_back(std::move(symbol));
  }
  return vocabulary;
}

Vocabulary read_vocabulary(const fs::path& path) {
  return parse_vocabulary(read_file(path, kMaxVocabularyBytes), path.string());
}

std::string vocabulary_json(const Vocabulary& vocabulary) {
  Json symbols = Json::array();
  for (const std::string& symbol : vocabulary.symbols) {
    if (vocabulary.unit == Vocabulary::Unit::kByte) {
      symbols.push_back(static_cast<int>(static_cast<unsigned char>(symbol.at(0))));
    } else {
      symbols.push_back(symbol);
    }
  }
  const Json json{{"unit", unit_name(vocabulary.unit)}, {"symbols", std::move(symbols)}};
  return json.dump() + "\n";
}

std::string_view unit_name(Vocabulary::Unit unit) { return kUnitNames.at(static_cast<std::size_t>(unit)); }

std::string_view units_name(Vocabulary::Unit unit) {
  return unit == Vocabulary::Unit::kBpe ? "byte pairs" : unit == Vocabulary::Unit::kByte ? "bytes" : "characters";
}

std::string symbol_name(Vocabulary::Unit unit, const std::string& symbol) {
  if (unit == Vocabulary::Unit::kByte) return fmt::format("byte {}", static_cast<unsigned char>(symbol.at(0)));
  if (unit == Vocabulary::Unit::kBpe) return fmt::format("'{}'", symbol);
  const char32_t code_point = decode_utf8(symbol).code_point;
  const auto number = static_cast<std::uint32_t>(code_point);
  return number < 0x20 || number == 0x7F ? fmt::format("U+{:04X}", number)
                                         : fmt::format("'{}' (U+{:04X})", symbol, number);
}

std::vector<std::int64_t> reencoding(const Vocabulary& data, const Vocabulary& model) {
  if (data == model) return {};
  if (data.unit != model.unit) {
    throw DataError(fmt::format("the data consists of {}, but the model uses {}\nprepare the text again with --unit {}",
                                units_name(data.unit), units_name(model.unit), unit_name(model.unit)));
  }
  std::unordered_map<std::string_view, std::int64_t> ids;
  for (const std::string& symbol : model.symbols) ids.emplace(symbol, static_cast<std::int64_t>(ids.size()));
  std::vector<std::int64_t> map;
  map.reserve(data.symbols.size());
  for (const std::string& symbol : data.symbols) {
    const auto found = ids.find(symbol);
    if (found == ids.end()) {
      throw DataError(
          fmt::format("the data has the symbol {}, which the model does not know\nuse data with the model's "
                      "{} symbols, or clean it like the model's training data",
                      symbol_name(data.unit, symbol), model.size()));
    }
    map.push_back(found->second);
  }
  return map;
}

}  // namespace xlm
