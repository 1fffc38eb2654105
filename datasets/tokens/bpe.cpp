// Reading a byte-pair encoding, and checking that its two files belong together.
#include "datasets/tokens/bpe.h"

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "base/pointer_file.h"
#include "base/text.h"
#include "datasets/tokens/decoder.h"

namespace xlm {
namespace {

constexpr std::uintmax_t kMaxFileBytes = std::uintmax_t{256} << 20;
constexpr std::string_view kVersionLine = "#version";

using TokenIds = std::unordered_map<std::string_view, std::uint32_t>;

TokenIds ids_of(const Vocabulary& vocabulary) {
  TokenIds ids;
  ids.reserve(vocabulary.symbols.size());
  for (const std::string& symbol : vocabulary.symbols) ids.emplace(symbol, static_cast<std::uint32_t>(ids.size()));
  return ids;
}

/// Tokens that no text is encoded to, such as <|endoftext|>.
bool is_special(std::string_view symbol) {
  return (symbol.starts_with('<') && symbol.ends_with('>')) || (symbol.starts_with('[') && symbol.ends_with(']'));
}

std::string read_part(const fs::path& folder, const char* name) {
  const fs::path file = folder / name;
  std::error_code ignored;
  if (!fs::exists(file, ignored)) {
    throw DataError(
        fmt::format("there is no {}\nbyte-pair encoding takes a folder with GPT-2's vocab.json and "
                    "merges.txt; a Hugging Face model folder will do",
                    file.string()));
  }
  std::string text = read_file(file, kMaxFileBytes);
  refuse_pointer(text, file.string());
  return text;
}

}  // namespace

Vocabulary parse_bpe_vocabulary(std::string_view text, const std::string& name) {
  check_json_depth(text, name);
  nlohmann::json json;  // not Json, which finds a key by going through all
  try {
    json = nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    throw DataError(fmt::format("{} is not valid JSON: {}", name, error.what()));
  }
  const auto bad = [&](const std::string& what) { return DataError(fmt::format("{} is malformed: {}", name, what)); };
  if (!json.is_object() || json.empty()) throw bad("it holds no tokens");
  if (json.contains("unit") && json["unit"].is_string()) {
    Vocabulary vocabulary = parse_vocabulary(text, name);
    if (vocabulary.unit == Vocabulary::Unit::kBpe) return vocabulary;
    throw DataError(fmt::format("{} is no vocabulary of byte-pair encoding: its unit is {}", name,
                                json["unit"].get<std::string>()));
  }
  Vocabulary vocabulary{Vocabulary::Unit::kBpe, std::vector<std::string>(json.size())};
  std::vector<bool> taken(json.size());
  for (const auto& [token, id] : json.items()) {
    const bool fits = id.is_number_unsigned() && id.get<std::uint64_t>() < json.size();
    if (!fits) throw bad(fmt::format("'{}' has the id {}, and ids go from 0 to {}", token, id.dump(), json.size() - 1));
    const auto index = id.get<std::size_t>();
    if (taken[index]) throw bad(fmt::format("'{}' and '{}' have the id {}", vocabulary.symbols[index], token, index));
    taken[index] = true;
    vocabulary.symbols[index] = token;
  }
  return vocabulary;
}

Bpe::Bpe(Vocabulary vocabulary, std::string_view merges, const std::string& vocabulary_name,
         const std::string& merges_name)
    : vocabulary_(std::move(vocabulary)) {
  const TokenIds ids = ids_of(vocabulary_);
  for (unsigned byte = 0; byte < byte_tokens_.size(); ++byte) {
    const auto found = ids.find(byte_symbol(static_cast<unsigned char>(byte)));
    if (found == ids.end()) {
      throw DataError(fmt::format("{} is no byte-level vocabulary: no token '{}' for the byte 0x{:02X}",
                                  vocabulary_name, byte_symbol(static_cast<unsigned char>(byte)), byte));
    }
    byte_tokens_.at(byte) = found->second;
  }
  read_merges(merges, merges_name);
  check_tokens(vocabulary_name, merges_name);
}

void Bpe::read_merges(std::string_view text, const std::string& name) {
  const TokenIds ids = ids_of(vocabulary_);
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  table_.resize(std::bit_ceil(2 * lines));
  std::int64_t number = 0;
  const auto bad = [&](const std::string& what) {
    return DataError(fmt::format("{}:{}: {}\ntake vocab.json and merges.txt from the same place", name, number, what));
  };
  const auto id_of = [&](const std::string& token) {
    const auto found = ids.find(token);
    if (found == ids.end()) throw bad(fmt::format("the vocabulary has no token '{}'", token));
    return found->second;
  };
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with(kVersionLine) || (line.empty() && text.empty())) continue;
    const std::vector<std::string> parts = split(line, ' ');
    if (parts.size() != 2 || parts[0].empty() || parts[1].empty()) {
      throw bad(fmt::format("'{}' is no pair of tokens", line));
    }
    const std::uint64_t pair = key(id_of(parts[0]), id_of(parts[1]));
    Entry& entry = table_[slot_of(pair)];
    if (entry.merge.rank != kNone) throw bad(fmt::format("the pair '{}' was there before", line));
    entry = {pair, {static_cast<std::uint32_t>(merged_.size()), id_of(parts[0] + parts[1])}};
    pairs_.push_back(pair);
    merged_.push_back(entry.merge.token);
  }
}

void Bpe::check_tokens(const std::string& vocabulary_name, const std::string& merges_name) const {
  std::vector<bool> made(vocabulary_.symbols.size());
  for (const std::uint32_t token : byte_tokens_) made[token] = true;
  for (const std::uint32_t token : merged_) made[token] = true;
  std::int64_t missing = 0;
  std::string first;
  for (std::size_t id = 0; id < made.size(); ++id) {
    const std::string& symbol = vocabulary_.symbols[id];
    if (made[id] || is_special(symbol)) continue;
    if (missing++ == 0) first = fmt::format("'{}' (id {})", symbol, id);
  }
  if (missing == 0) return;
  throw DataError(fmt::format("{} does not fit {}: its {} lines make no token {}{}\ntake both from the same place",
                              merges_name, vocabulary_name, merged_.size(), first,
                              missing == 1 ? "" : fmt::format(", nor {} more", missing - 1)));
}

std::size_t Bpe::slot_of(std::uint64_t pair) const {
  constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;
  const std::size_t last = table_.size() - 1;
  std::size_t slot = static_cast<std::size_t>(pair * kGolden >> 32U) & last;
  while (table_[slot].merge.rank != kNone && table_[slot].pair != pair) slot = (slot + 1) & last;
  return slot;
}

Bpe::Merge Bpe::find(std::uint32_t left, std::uint32_t right) const { return table_[slot_of(key(left, right))].merge; }

std::string Bpe::merges_text() const {
  std::string text = "#version: 0.2\n";
  for (const std::uint64_t pair : pairs_) {
    text += fmt::format("{} {}\n", vocabulary_.symbols[pair >> 32U], vocabulary_.symbols[pair & 0xFFFFFFFFU]);
  }
  return text;
}

Bpe read_bpe(const fs::path& folder) {
  const std::string vocabulary_name = (folder / "vocab.json").string();
  Vocabulary vocabulary = parse_bpe_vocabulary(read_part(folder, "vocab.json"), vocabulary_name);
  return {std::move(vocabulary), read_part(folder, "merges.txt"), vocabulary_name, (folder / "merges.txt").string()};
}

}  // namespace xlm
