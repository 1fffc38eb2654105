// The prepared data folder (docs/data.md): token files, vocabulary and meta data, as training and evaluation read it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "datasets/tokens/vocabulary.h"

namespace xlm {

/// A memory-mapped file of token ids.
class TokenFile {
 public:
  /// Ids of `symbols` symbols. Throws DataError if the size is not a multiple of `id_bytes`.
  TokenFile(const fs::path& path, int id_bytes, std::int64_t symbols = std::int64_t{1} << 32);

  std::int64_t size() const { return size_; }
  /// As many bytes for each as the vocabulary says; unchecked.
  const void* ids() const { return file_.data(); }
  /// The first `count` ids are not needed soon: they need not stay in this process's memory.
  void release(std::int64_t count) const { file_.release(static_cast<std::size_t>(count * id_bytes_)); }
  std::int64_t at(std::int64_t index) const;
  /// Copies ids [begin, begin + count) to `out`. The range must lie inside the file. Throws DataError for an id without
  /// a symbol.
  void copy(std::int64_t begin, std::int64_t count, std::int64_t* out) const;
  /// Whether `count` ids from `begin` on are those of `other`, a file with as many bytes an id, from `other_begin` on.
  bool equals(std::int64_t begin, const TokenFile& other, std::int64_t other_begin, std::int64_t count) const;

 private:
  fs::path path_;
  MappedFile file_;
  int id_bytes_;
  std::int64_t symbols_;
  std::int64_t size_;
};

/// One split with its counts.
struct Split {
  TokenFile tokens;
  std::int64_t words = 0;                    // 0 if the corpus has no words
  std::int64_t bytes = 0;                    // UTF-8 bytes of the text
  std::vector<std::int64_t> documents;       // offset of each document's first token; empty: one document
  std::vector<std::int64_t> document_words;  // of each document, for BPE; empty if unknown
  std::vector<std::int64_t> document_bytes;
  std::int64_t unknown = 0;  // characters that the training split lacks, which are U+FFFD here
};

struct PreparedData {
  fs::path path;
  std::string dataset;   // "text8", or the name given to the data
  std::string language;  // "" or "en"
  Vocabulary vocabulary;
  Json meta;
  std::string fingerprint;  // of tokens, vocabulary, documents and counts: the same for the same data anywhere
  std::map<std::string, Split> splits;  // "train", "valid", "test": those that exist

  /// Throws DataError with the folder if it has no such split.
  const Split& split(const std::string& name) const;
};

/// Opens a prepared folder; checks sizes and hashes against meta.json. A verified file that has not changed since is
/// hashed again only if `verify` is true. Throws DataError.
PreparedData open_prepared(const fs::path& folder, bool verify = false);

/// What is read of a meta.json at most: a document takes 10 bytes or so, 20 with byte pairs.
constexpr std::uintmax_t kMaxMetaBytes = std::uintmax_t{1} << 32;

/// The text of meta.json, a line for each key: a line for each number would be half as long again. Throws DataError if
/// it is longer than `most` bytes, and could not be read again.
std::string prepared_meta_text(const Json& meta, std::uintmax_t most = kMaxMetaBytes);

/// The content of meta.json (docs/data.md). Throws DataError if there is no such folder or JSON.
Json read_prepared_meta(const fs::path& folder);

/// The fingerprint and the names, without mapping the token files.
struct PreparedSummary {
  std::string dataset;
  std::string language;
  std::string fingerprint;
  std::int64_t symbols = 0;
  std::int64_t train_tokens = 0;  // 0: there is no such split
};
PreparedSummary summarize_prepared(const fs::path& folder);

/// Tokens of every document of a split, by meta.json; one number if no documents are known. Throws DataError if there
/// is no such folder or split.
std::vector<std::int64_t> document_sizes(const fs::path& folder, const std::string& split);

}  // namespace xlm
