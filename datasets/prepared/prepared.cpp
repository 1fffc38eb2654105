// Reads a prepared data folder. Everything in it is checked before use: it may be damaged, or edited by hand.
#include "datasets/prepared/prepared.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "base/error.h"
#include "base/sha256.h"
#include "base/text.h"
#include "datasets/prepared/split_plan.h"
#include "datasets/prepared/verified_files.h"

namespace xlm {
namespace {

/// Reads fields of meta.json. A missing field or a wrong type is an error that names it.
class MetaReader {
 public:
  MetaReader(const Json& meta, fs::path file) : meta_(&meta), file_(std::move(file)) {
    if (!meta.is_object()) throw bad("it is not an object");
  }

  DataError bad(const std::string& what) const {
    return DataError(fmt::format("{} is malformed: {}\nprepare the data again", file_.string(), what));
  }

  std::string text(const char* key) const {
    const auto found = meta_->find(key);
    if (found == meta_->end() || !found->is_string()) throw bad(fmt::format("no text '{}'", key));
    return found->get<std::string>();
  }

  /// The name of the data: the corpus, unless they were given a name.
  std::string name() const { return text(meta_->contains("name") ? "name" : "dataset"); }

  const Json& object(const char* key) const {
    const auto found = meta_->find(key);
    if (found == meta_->end() || !found->is_object()) throw bad(fmt::format("no object '{}'", key));
    return *found;
  }

  /// The count of `split` under `key`; 0 if it is not given.
  std::int64_t count(const char* key, const std::string& split) const {
    const auto counts = meta_->find(key);
    if (counts == meta_->end()) return 0;
    if (!counts->is_object()) throw bad(fmt::format("'{}' is not an object", key));
    const auto found = counts->find(split);
    if (found == counts->end()) return 0;
    return whole(*found, fmt::format("{}.{}", key, split));
  }

  std::vector<std::int64_t> documents(const std::string& split, std::int64_t tokens) const {
    std::vector<std::int64_t> offsets = counts("documents", split);
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      const bool rises = i == 0 ? offsets[i] == 0 : offsets[i] > offsets[i - 1];
      if (!rises || offsets[i] >= tokens) {
        throw bad(fmt::format("documents.{} must rise from 0 and stay below {}: {}", split, tokens, offsets[i]));
      }
    }
    return offsets;
  }

  /// The value of a key as JSON; "null" if it is not given.
  std::string dump(const char* key) const { return meta_->value(key, Json()).dump(); }

  /// Checks a value that other code reads later: a count, if it is given at all.
  void check_count(const char* key) const {
    const auto found = meta_->find(key);
    if (found != meta_->end()) whole(*found, key);
  }

  /// One count for each of the documents, or none.
  std::vector<std::int64_t> of_documents(const char* key, const std::string& split, std::size_t documents) const {
    std::vector<std::int64_t> list = counts(key, split);
    if (!list.empty() && list.size() != documents) {
      throw bad(fmt::format("{}.{} has {} counts for {} documents", key, split, list.size(), documents));
    }
    return list;
  }

 private:
  std::vector<std::int64_t> counts(const char* key, const std::string& split) const {
    const auto lists = meta_->find(key);
    if (lists == meta_->end()) return {};
    if (!lists->is_object()) throw bad(fmt::format("'{}' is not an object", key));
    const auto list = lists->find(split);
    if (list == lists->end()) return {};
    const std::string name = fmt::format("{}.{}", key, split);
    if (!list->is_array()) throw bad(name + " is not a list");
    std::vector<std::int64_t> values;
    for (const Json& value : *list) values.push_back(whole(value, name));
    return values;
  }

  std::int64_t whole(const Json& value, const std::string& name) const {
    const bool fits = value.is_number_integer() && value >= 0 &&
                      (!value.is_number_unsigned() || value.get<std::uint64_t>() <= std::uint64_t{INT64_MAX});
    if (!fits) throw bad(fmt::format("'{}' has {} instead of a count", name, value.dump()));
    return value.get<std::int64_t>();
  }

  const Json* meta_;
  fs::path file_;
};

std::string recorded_hash(const MetaReader& meta, const std::string& file) {
  const Json& outputs = meta.object("outputs");
  const auto found = outputs.find(file);
  if (found == outputs.end() || !found->is_string()) throw meta.bad(fmt::format("no sha256 of {}", file));
  return found->get<std::string>();
}

/// What results depend on besides the tokens: the beginnings of documents, and the divisors of losses.
constexpr std::array kCounts{"sizes", "documents", "words", "bytes", "document_words", "document_bytes"};

/// The data files by name, with their hashes. Text copies do not affect training.
std::string data_files(const MetaReader& meta) {
  std::vector<std::string> lines;
  for (const auto& [file, hash] : meta.object("outputs").items()) {
    if (file == "vocab.json" || fs::path(file).extension() == ".bin") {
      lines.push_back(fmt::format("{} {}\n", file, recorded_hash(meta, file)));
    }
  }
  std::ranges::sort(lines);
  return join(lines, "");
}

std::string fingerprint_of(const MetaReader& meta) {
  Sha256 hash;
  hash.update(data_files(meta));
  for (const char* key : kCounts) hash.update(fmt::format("{} {}\n", key, meta.dump(key)));
  return hash.finish();
}

void check_hash(VerifiedFiles& verified, const fs::path& folder, const std::string& file, const MetaReader& meta,
                bool again) {
  if (verified.has_hash(file, recorded_hash(meta, file), again)) return;
  throw DataError(fmt::format("{} is damaged: its sha256 differs from the one in meta.json\nprepare the data again",
                              (folder / file).string()));
}

Split open_split(const fs::path& folder, const std::string& name, const MetaReader& meta,
                 const Vocabulary& vocabulary) {
  const fs::path file = folder / (name + ".bin");
  const std::int64_t tokens = meta.count("sizes", name);
  Split split{.tokens = TokenFile(file, vocabulary.id_bytes(), vocabulary.size()),
              .words = meta.count("words", name),
              .bytes = meta.count("bytes", name),
              .documents = meta.documents(name, tokens)};
  split.unknown = meta.count("unknown_characters", name);
  split.document_words = meta.of_documents("document_words", name, split.documents.size());
  split.document_bytes = meta.of_documents("document_bytes", name, split.documents.size());
  if (split.tokens.size() != tokens) {
    throw DataError(fmt::format("{} is damaged: it has {} tokens, but meta.json says {}\nprepare the data again",
                                file.string(), split.tokens.size(), tokens));
  }
  return split;
}

}  // namespace

TokenFile::TokenFile(const fs::path& path, int id_bytes, std::int64_t symbols)
    : path_(path),
      file_(path),
      id_bytes_(id_bytes),
      symbols_(symbols),
      size_(static_cast<std::int64_t>(file_.size()) / id_bytes) {
  if (file_.size() % static_cast<std::size_t>(id_bytes) != 0) {
    throw DataError(fmt::format("{} is damaged: {} bytes are not a multiple of {}-byte ids\nprepare the data again",
                                path.string(), file_.size(), id_bytes));
  }
}

std::int64_t TokenFile::at(std::int64_t index) const {
  std::int64_t id = 0;
  copy(index, 1, &id);
  return id;
}

void TokenFile::copy(std::int64_t begin, std::int64_t count, std::int64_t* out) const {
  const auto* bytes = reinterpret_cast<const char*>(file_.data()) + begin * id_bytes_;
  std::int64_t largest = 0;
  with_id_type(id_bytes_, [&]<class Id>(Id id) {
    for (std::int64_t i = 0; i < count; ++i) {
      std::memcpy(&id, bytes + i * std::int64_t{sizeof id}, sizeof id);
      largest = std::max(largest, out[i] = id);
    }
  });
  if (largest >= symbols_) {
    const std::int64_t* const unknown = std::find_if(out, out + count, [&](std::int64_t id) { return id >= symbols_; });
    throw DataError(
        fmt::format("{} is damaged: token {} has the id {}, but there are {} symbols\nprepare the data again",
                    path_.string(), begin + (unknown - out), *unknown, symbols_));
  }
}

bool TokenFile::equals(std::int64_t begin, const TokenFile& other, std::int64_t other_begin, std::int64_t count) const {
  return std::memcmp(file_.data() + begin * id_bytes_, other.file_.data() + other_begin * id_bytes_,
                     static_cast<std::size_t>(count * id_bytes_)) == 0;
}

const Split& PreparedData::split(const std::string& name) const {
  const auto found = splits.find(name);
  if (found != splits.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [known, unused] : splits) names.push_back(known);
  throw DataError(fmt::format("{} has no split '{}'{}\nit has: {}", path.string(), name, did_you_mean(name, names),
                              join(names, ", ")));
}

PreparedData open_prepared(const fs::path& folder, bool verify) {
  PreparedData data;
  data.path = folder;
  data.meta = read_prepared_meta(folder);
  const MetaReader meta(data.meta, folder / "meta.json");
  data.dataset = meta.name();
  data.language = meta.text("language");
  data.fingerprint = fingerprint_of(meta);
  meta.check_count("replaced_characters");
  data.vocabulary = read_vocabulary(folder / "vocab.json");
  VerifiedFiles verified(folder);
  const auto check = [&](const std::string& file) { check_hash(verified, folder, file, meta, verify); };
  check("vocab.json");
  if (verify && data.vocabulary.unit == Vocabulary::Unit::kBpe) check("merges.txt");
  for (const auto& [name, size] : meta.object("sizes").items()) {
    if (std::ranges::find(kSplitNames, name) == kSplitNames.end()) {
      throw meta.bad(fmt::format("unknown split '{}'", name));
    }
    data.splits.emplace(name, open_split(folder, name, meta, data.vocabulary));
    check(name + ".bin");
  }
  if (data.splits.empty()) throw meta.bad("there is no split in 'sizes'");
  return data;
}

std::string prepared_meta_text(const Json& meta, std::uintmax_t most) {
  std::string text = "{\n";
  for (const auto& [key, value] : meta.items()) {
    text += (text.size() > 2 ? ",\n " : " ") + Json(key).dump() + ": ";
    text += value.dump();
  }
  text += "\n}\n";
  if (text.size() > most) {
    throw DataError(
        fmt::format("meta.json would have {} bytes, but the limit is {}: there are too many documents to list\n"
                    "prepare the text in parts, or join several documents into one",
                    text.size(), most));
  }
  return text;
}

Json read_prepared_meta(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) {
    throw DataError(
        fmt::format("there is no prepared data folder {}\nmake it with 'xlm prepare-data'", folder.string()));
  }
  const fs::path file = folder / "meta.json";
  if (!fs::exists(file, ignored)) {
    throw DataError(fmt::format(
        "{} is not a prepared data folder: it has no meta.json\nmake one with 'xlm prepare-data'", folder.string()));
  }
  return parse_json(read_file(file, kMaxMetaBytes), file.string());
}

PreparedSummary summarize_prepared(const fs::path& folder) {
  const Json json = read_prepared_meta(folder);
  const MetaReader meta(json, folder / "meta.json");
  return {.dataset = meta.name(),
          .language = meta.text("language"),
          .fingerprint = fingerprint_of(meta),
          .symbols = read_vocabulary(folder / "vocab.json").size(),
          .train_tokens = meta.count("sizes", "train")};
}

std::vector<std::int64_t> document_sizes(const fs::path& folder, const std::string& split) {
  const Json json = read_prepared_meta(folder);
  const MetaReader meta(json, folder / "meta.json");
  const std::int64_t tokens = meta.count("sizes", split);
  if (tokens == 0) throw DataError(fmt::format("{} has no split '{}', or nothing in it", folder.string(), split));
  const std::vector<std::int64_t> begins = meta.documents(split, tokens);
  if (begins.empty()) return {tokens};
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 0; i < begins.size(); ++i) {
    sizes.push_back((i + 1 < begins.size() ? begins[i + 1] : tokens) - begins[i]);
  }
  return sizes;
}

}  // namespace xlm
