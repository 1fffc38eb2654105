// Reads tokenizer.json.
#include "datasets/tokens/tokenizer_json.h"

#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace xlm {
namespace {

/// Reads the parts of a tokenizer.json, and refuses those that differ from GPT-2's.
class TokenizerReader {
 public:
  TokenizerReader(const SortedJson& json, const std::string& name) : json_(json), name_(name) {
    if (!json.is_object()) throw malformed("it is not a map");
  }

  void check_kind() const {
    const SortedJson& model = part("model");
    const SortedJson type = value(model, "type");
    // Early programs wrote no type. Only byte-pair encodings have merges.
    const bool is_bpe = type.is_null() ? model.is_object() && model.contains("merges") : type == "BPE";
    if (!is_bpe) throw other(fmt::format("a tokenizer of type {}", type.is_null() ? "unknown" : type.dump()));
    for (const char* key :
         {"dropout", "continuing_subword_prefix", "end_of_word_suffix", "byte_fallback", "ignore_merges"}) {
      const SortedJson given = value(model, key);
      if (!given.is_null() && given != 0 && given != false && given != SortedJson("")) {
        throw other(fmt::format("byte pairs with '{}' {}", key, given.dump()));
      }
    }
    if (const SortedJson& normalizer = part("normalizer"); !normalizer.is_null()) {
      throw other("it changes the text by a normalizer of type " + type_of(normalizer));
    }
    const SortedJson& cuts = part("pre_tokenizer");
    if (type_of(cuts) != "\"ByteLevel\"") throw other("it cuts the text by a pre-tokenizer of type " + type_of(cuts));
    if (value(cuts, "use_regex") == false) throw other("it does not cut the text into words ('use_regex')");
    if (value(cuts, "add_prefix_space") == true) throw other("it puts a blank before a text ('add_prefix_space')");
  }

  /// {"token": id, …} with the added tokens.
  SortedJson ids(std::uint64_t rows) const {
    SortedJson ids = value(part("model"), "vocab");
    if (!ids.is_object()) throw malformed("its model has no map 'vocab'");
    const SortedJson& added = part("added_tokens");
    if (!added.is_null() && !added.is_array()) throw malformed("its 'added_tokens' are no list");
    for (const SortedJson& token : added) add_token(ids, value(token, "content"), value(token, "id"), rows, name_);
    return ids;
  }

  std::vector<Bpe::Line> merges() const {
    const SortedJson merges = value(part("model"), "merges");
    if (!merges.is_array()) throw malformed("its model has no list 'merges'");
    std::vector<Bpe::Line> lines;
    lines.reserve(merges.size());
    for (const SortedJson& merge : merges) {
      std::vector<std::string> parts;
      if (merge.is_string()) parts = split(merge.get<std::string>(), ' ');
      if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
        parts = {merge[0].get<std::string>(), merge[1].get<std::string>()};
      }
      if (parts.size() != 2 || parts[0].empty() || parts[1].empty()) {
        throw malformed(fmt::format("merge {} is {}, not a pair of tokens", lines.size() + 1, merge.dump()));
      }
      lines.push_back({std::move(parts[0]), std::move(parts[1]), static_cast<std::int64_t>(lines.size()) + 1});
    }
    return lines;
  }

 private:
  static SortedJson value(const SortedJson& map, const char* key) {
    return map.is_object() ? map.value(key, SortedJson()) : SortedJson();
  }
  static std::string type_of(const SortedJson& part) { return value(part, "type").dump(); }

  const SortedJson& part(const char* key) const {
    static const SortedJson nothing;
    const auto found = json_.find(key);
    return found == json_.end() ? nothing : *found;
  }
  DataError malformed(const std::string& what) const {
    return DataError(fmt::format("{} is malformed: {}", name_, what));
  }
  DataError other(const std::string& what) const {
    return DataError(
        fmt::format("{} is not a byte-pair encoding of GPT-2's kind: {}\n"
                    "only GPT-2's kind is supported: BPE with a ByteLevel pre-tokenizer",
                    name_, what));
  }

  const SortedJson& json_;
  const std::string& name_;
};

}  // namespace

void add_token(SortedJson& ids, const SortedJson& token, const SortedJson& id, std::uint64_t rows,
               const std::string& name) {
  if (!token.is_string() || !id.is_number_unsigned()) {
    throw DataError(fmt::format("{} is malformed: an added token is {} with the id {}", name, token.dump(), id.dump()));
  }
  const auto symbol = token.get<std::string>();
  if (!is_special_token(symbol)) {
    throw DataError(
        fmt::format("{} adds the token {}, at which a text would be cut; only tokens in <…> or […] are supported\n"
                    "use the encoding without it",
                    name, token.dump()));
  }
  const auto known = ids.find(symbol);
  if (known != ids.end() && *known != id) {
    throw DataError(
        fmt::format("{} is malformed: {} has the ids {} and {}", name, token.dump(), known->dump(), id.dump()));
  }
  if (known == ids.end() && id.get<std::uint64_t>() < rows) ids[symbol] = id;
}

TokenizerJson parse_tokenizer_json(std::string_view text, const std::string& name, std::uint64_t rows) {
  const SortedJson json = parse_sorted_json(text, name);
  const TokenizerReader reader(json, name);
  reader.check_kind();
  return {vocabulary_of_ids(reader.ids(rows), name), reader.merges()};
}

}  // namespace xlm
