// Reads a byte-pair encoding, and checks that its files belong together.
#include "datasets/tokens/bpe.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_parser.h"
#include "base/pointer_file.h"
#include "base/text.h"
#include "datasets/tokens/decoder.h"
#include "datasets/tokens/tokenizer_json.h"

namespace xlm {
namespace {

constexpr std::uintmax_t kMaxFileBytes = std::uintmax_t{256} << 20;
constexpr std::string_view kVersionLine = "#version";
constexpr std::string_view kTakeBoth = "take vocab.json and merges.txt from the same place";

using TokenIds = std::unordered_map<std::string_view, std::uint32_t>;

TokenIds ids_of(const Vocabulary& vocabulary) {
  TokenIds ids;
  ids.reserve(vocabulary.symbols.size());
  for (const std::string& symbol : vocabulary.symbols) ids.emplace(symbol, static_cast<std::uint32_t>(ids.size()));
  return ids;
}

std::string read_part(const fs::path& folder, const char* name) {
  const fs::path file = folder / name;
  std::error_code ignored;
  if (!fs::exists(file, ignored)) {
    throw DataError(
        fmt::format("there is no {}\nbyte-pair encoding takes a folder with GPT-2's vocab.json and "
                    "merges.txt, or with tokenizer.json; a Hugging Face model folder works",
                    file.string()));
  }
  std::string text = read_file(file, kMaxFileBytes);
  refuse_pointer(text, file.string());
  return text;
}

/// The lines of merges.txt, without blank ones, the version and a byte-order mark.
std::vector<Bpe::Line> parse_merges(std::string_view text, const std::string& name) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::vector<Bpe::Line> lines;
  for (std::int64_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with(kVersionLine) || line.empty()) continue;
    std::vector<std::string> parts = split(line, ' ');
    if (parts.size() != 2 || parts[0].empty() || parts[1].empty()) {
      throw DataError(fmt::format("{}:{}: '{}' is not a pair of tokens\n{}", name, number, line, kTakeBoth));
    }
    lines.push_back({std::move(parts[0]), std::move(parts[1]), number});
  }
  return lines;
}

/// The number of embedding rows in a Hugging Face folder's config.json; without one any number.
std::uint64_t rows_of(const fs::path& folder) {
  const fs::path config = folder / "config.json";
  std::error_code ignored;
  std::optional<Json> json;
  if (fs::is_regular_file(config, ignored)) json = parse_json_if_any(read_file(config, kMaxFileBytes));
  const Json rows = json && json->is_object() ? json->value("vocab_size", Json()) : Json();
  return rows.is_number_unsigned() ? rows.get<std::uint64_t>() : std::numeric_limits<std::uint64_t>::max();
}

/// The contents of a folder's files.
struct EncodingFiles {
  Vocabulary vocabulary;
  std::vector<Bpe::Line> merges;
  std::string vocabulary_name, merges_name;
};

/// vocab.json, followed by the tokens of added_tokens.json, as earlier versions of transformers write them.
Vocabulary read_vocab_json(const fs::path& folder) {
  const std::string name = (folder / "vocab.json").string();
  Vocabulary vocabulary = parse_bpe_vocabulary(read_part(folder, "vocab.json"), name);
  const fs::path more = folder / "added_tokens.json";
  std::error_code ignored;
  if (!fs::is_regular_file(more, ignored)) return vocabulary;
  SortedJson ids = SortedJson::object();
  for (std::size_t id = 0; id < vocabulary.symbols.size(); ++id) ids[vocabulary.symbols[id]] = id;
  const SortedJson added = parse_sorted_json(read_file(more, kMaxFileBytes), more.string());
  if (!added.is_object()) throw DataError(fmt::format("{} is malformed: it is not a map", more.string()));
  for (const auto& [token, id] : added.items()) add_token(ids, token, id, rows_of(folder), more.string());
  return vocabulary_of_ids(ids, more.string());
}

[[noreturn]] void refuse_difference(const EncodingFiles& files, const std::string& other, std::size_t place,
                                    const std::string& own_text, const std::string& other_text) {
  throw DataError(
      fmt::format("{} and {} differ: number {} is '{}' in the first and '{}' in the second\n"
                  "remove the one that the model was not trained with",
                  files.vocabulary_name, other, place, own_text, other_text));
}

/// Throws DataError if the older files exist too and differ from tokenizer.json.
void check_older_files(const EncodingFiles& files, const fs::path& folder) {
  std::error_code ignored;
  if (fs::exists(folder / "vocab.json", ignored)) {
    const Vocabulary older = read_vocab_json(folder);
    for (std::size_t id = 0; id < older.symbols.size(); ++id) {
      const std::string own = id < files.vocabulary.symbols.size() ? files.vocabulary.symbols[id] : "";
      if (own != older.symbols[id])
        refuse_difference(files, (folder / "vocab.json").string(), id, own, older.symbols[id]);
    }
  }
  if (!fs::exists(folder / "merges.txt", ignored)) return;
  const std::string name = (folder / "merges.txt").string();
  const std::vector<Bpe::Line> older = parse_merges(read_part(folder, "merges.txt"), name);
  const auto text = [](const std::vector<Bpe::Line>& lines, std::size_t i) {
    return i < lines.size() ? lines[i].left + " " + lines[i].right : "";
  };
  for (std::size_t i = 0; i < std::max(older.size(), files.merges.size()); ++i) {
    if (text(files.merges, i) != text(older, i))
      refuse_difference(files, name, i + 1, text(files.merges, i), text(older, i));
  }
}

EncodingFiles read_files(const fs::path& folder, bool with_merges) {
  const fs::path tokenizer = folder / "tokenizer.json";
  std::error_code ignored;
  if (fs::exists(tokenizer, ignored)) {
    TokenizerJson parsed =
        parse_tokenizer_json(read_file(tokenizer, kMaxFileBytes), tokenizer.string(), rows_of(folder));
    EncodingFiles files{std::move(parsed.vocabulary), std::move(parsed.merges), tokenizer.string(),
                        tokenizer.string() + ": merges"};
    check_older_files(files, folder);
    return files;
  }
  EncodingFiles files{read_vocab_json(folder), {}, (folder / "vocab.json").string(), (folder / "merges.txt").string()};
  if (with_merges) files.merges = parse_merges(read_part(folder, "merges.txt"), files.merges_name);
  return files;
}

}  // namespace

bool is_special_token(std::string_view symbol) {
  return (symbol.starts_with('<') && symbol.ends_with('>')) || (symbol.starts_with('[') && symbol.ends_with(']'));
}

Vocabulary vocabulary_of_ids(const SortedJson& ids, const std::string& name) {
  const auto bad = [&](const std::string& what) { return DataError(fmt::format("{} is malformed: {}", name, what)); };
  if (!ids.is_object() || ids.empty()) throw bad("it has no tokens");
  Vocabulary vocabulary{Vocabulary::Unit::kBpe, std::vector<std::string>(ids.size())};
  std::vector<bool> taken(ids.size());
  for (const auto& [token, id] : ids.items()) {
    const bool fits = id.is_number_unsigned() && id.get<std::uint64_t>() < ids.size();
    if (!fits) throw bad(fmt::format("'{}' has the id {}, but ids go from 0 to {}", token, id.dump(), ids.size() - 1));
    const auto index = id.get<std::size_t>();
    if (taken[index]) throw bad(fmt::format("'{}' and '{}' have the id {}", vocabulary.symbols[index], token, index));
    taken[index] = true;
    vocabulary.symbols[index] = token;
  }
  return vocabulary;
}

Vocabulary parse_bpe_vocabulary(std::string_view text, const std::string& name) {
  if (std::optional<std::vector<std::string>> symbols = JsonParser().numbered_names(text)) {
    return {Vocabulary::Unit::kBpe, *std::move(symbols)};
  }
  const SortedJson json = parse_sorted_json(text, name);
  if (json.is_object() && json.contains("model") && json.contains("added_tokens")) {
    throw DataError(fmt::format("{} is a whole tokenizer.json\nrename it to tokenizer.json", name));
  }
  if (!json.is_object() || !json.contains("unit") || !json["unit"].is_string()) return vocabulary_of_ids(json, name);
  Vocabulary vocabulary = parse_vocabulary(text, name);
  if (vocabulary.unit == Vocabulary::Unit::kBpe) return vocabulary;
  throw DataError(
      fmt::format("{} is not a byte-pair vocabulary: its unit is {}", name, json["unit"].get<std::string>()));
}

Bpe::Bpe(Vocabulary vocabulary, std::string_view merges, const std::string& vocabulary_name,
         const std::string& merges_name)
    : Bpe(std::move(vocabulary), parse_merges(merges, merges_name), vocabulary_name, merges_name) {}

Bpe::Bpe(Vocabulary vocabulary, const std::vector<Line>& merges, const std::string& vocabulary_name,
         const std::string& merges_name)
    : vocabulary_(std::move(vocabulary)) {
  const TokenIds ids = ids_of(vocabulary_);
  for (unsigned byte = 0; byte < byte_tokens_.size(); ++byte) {
    const auto found = ids.find(byte_symbol(static_cast<unsigned char>(byte)));
    if (found == ids.end()) {
      throw DataError(fmt::format("{} is not a byte-level vocabulary: no token '{}' for the byte 0x{:02X}",
                                  vocabulary_name, byte_symbol(static_cast<unsigned char>(byte)), byte));
    }
    byte_tokens_.at(byte) = found->second;
  }
  add_merges(merges, merges_name);
  check_tokens(vocabulary_name, merges_name);
}

void Bpe::add_merges(const std::vector<Line>& merges, const std::string& name) {
  const TokenIds ids = ids_of(vocabulary_);
  table_.resize(std::bit_ceil(2 * (merges.size() + 1)));
  for (const Line& line : merges) {
    const auto bad = [&](const std::string& what) {
      return DataError(fmt::format("{}:{}: {}\n{}", name, line.number, what, kTakeBoth));
    };
    const auto id_of = [&](const std::string& token) {
      const auto found = ids.find(token);
      if (found == ids.end()) throw bad(fmt::format("the vocabulary has no token '{}'", token));
      return found->second;
    };
    const std::uint64_t pair = std::uint64_t{id_of(line.left)} << 32U | id_of(line.right);
    Entry& entry = table_[slot_of(pair)];
    if (entry.rank != kNone) throw bad(fmt::format("the pair '{} {}' occurs twice", line.left, line.right));
    entry = {hash_of(pair), static_cast<std::uint32_t>(merged_.size())};
    pairs_.push_back(pair);
    merged_.push_back(id_of(line.left + line.right));
  }
}

std::vector<bool> Bpe::tokens_of_texts() const {
  std::vector<bool> made(vocabulary_.symbols.size());
  for (const std::uint32_t token : byte_tokens_) made[token] = true;
  for (const std::uint32_t token : merged_) made[token] = true;
  return made;
}

std::vector<std::string> Bpe::special_tokens() const {
  const std::vector<bool> made = tokens_of_texts();
  std::vector<std::string> special;
  for (std::size_t id = 0; id < made.size(); ++id) {
    if (!made[id]) special.push_back(vocabulary_.symbols[id]);
  }
  return special;
}

void Bpe::check_tokens(const std::string& vocabulary_name, const std::string& merges_name) const {
  const std::vector<bool> made = tokens_of_texts();
  std::int64_t missing = 0;
  std::string first;
  for (std::size_t id = 0; id < made.size(); ++id) {
    const std::string& symbol = vocabulary_.symbols[id];
    if (made[id] || is_special_token(symbol)) continue;
    if (missing++ == 0) first = fmt::format("'{}' (id {})", symbol, id);
  }
  if (missing == 0) return;
  throw DataError(fmt::format("{} does not fit {}: its {} lines make no token {}{}\ntake both from the same place",
                              merges_name, vocabulary_name, merged_.size(), first,
                              missing == 1 ? "" : fmt::format(", nor {} more", missing - 1)));
}

std::string Bpe::merges_text() const {
  std::string text = "#version: 0.2\n";
  for (const std::uint64_t pair : pairs_) {
    text += fmt::format("{} {}\n", vocabulary_.symbols[pair >> 32U], vocabulary_.symbols[pair & 0xFFFFFFFFU]);
  }
  return text;
}

Bpe read_bpe(const fs::path& folder) {
  const fs::path settings = folder / "tokenizer_config.json";
  const Json given = fs::exists(settings) ? read_json(settings) : Json();
  if (given.is_object() && given.value("add_prefix_space", Json()) == true) {
    throw DataError(
        fmt::format("{}: 'add_prefix_space' puts a blank before each text, which is not supported\n"
                    "use the encoding without it",
                    settings.string()));
  }
  EncodingFiles files = read_files(folder, true);
  return {std::move(files.vocabulary), files.merges, files.vocabulary_name, files.merges_name};
}

Vocabulary read_bpe_vocabulary(const fs::path& folder) { return read_files(folder, false).vocabulary; }

namespace {

/// The merges of a folder; nothing: it does not say them.
std::optional<std::vector<Bpe::Line>> merges_of(const fs::path& folder) {
  const fs::path file = folder / "merges.txt";
  const fs::path tokenizer = folder / "tokenizer.json";
  if (fs::exists(file)) return parse_merges(read_part(folder, "merges.txt"), file.string());
  if (!fs::exists(tokenizer)) return std::nullopt;
  return parse_tokenizer_json(read_file(tokenizer, kMaxFileBytes), tokenizer.string(), rows_of(folder)).merges;
}

}  // namespace

void check_same_merges(const fs::path& data, const fs::path& model) {
  if (!fs::exists(data / "merges.txt")) return;  // it is of no byte pairs
  const std::optional<std::vector<Bpe::Line>> a = merges_of(data);
  const std::optional<std::vector<Bpe::Line>> b = merges_of(model);
  if (!b) return;
  const auto same = [](const Bpe::Line& x, const Bpe::Line& y) { return x.left == y.left && x.right == y.right; };
  if (std::equal(a->begin(), a->end(), b->begin(), b->end(), same)) return;
  throw DataError(
      fmt::format("{} has other byte pairs than {}: {} merges instead of {}, or another order\n"
                  "prepare the text again with --unit bpe --bpe {}",
                  data.string(), model.string(), a->size(), b->size(), model.string()));
}

bool has_vocabulary(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / "vocab.json", ignored) || fs::exists(folder / "tokenizer.json", ignored);
}

}  // namespace xlm
