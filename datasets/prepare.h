// Making a prepared data folder from a raw corpus: the request of prepare-data, which is checked before any work is
// done, and the work.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "datasets/corpora/registry.h"
#include "datasets/prepared/encoding.h"
#include "datasets/prepared/split_plan.h"

namespace xlm {

constexpr const char* kUsualColumn = "text";  // of tables
constexpr const char* kUsualSplit = "90%,5%,5%";

struct PrepareRequest {
  std::string dataset;               // a name in the registry
  std::vector<fs::path> from;        // files, archives or folders
  bool shards = false;               // `from` is the folder of a Hugging Face dataset: only its shards are read
  fs::path out;                      // the folder to make
  std::string name;                  // name of the data in run ids and data.name; empty: default_name
  std::string glob;                  // which files of folders and archives; empty: all
  std::optional<std::string> clean;  // nullopt: the corpus's default
  std::optional<std::string> unit;
  std::optional<std::string> line_ends;        // "unix" or "keep" for own text; nullopt: unix
  fs::path bpe;                                // a folder with vocab.json and merges.txt; empty: none
  fs::path lists;                              // a folder with the corpus's lists of files; empty: none
  std::optional<std::string> split;            // as in SplitPlan; nullopt: by names of files, or kUsualSplit
  std::optional<std::string> split_by;         // "document" or "position"; nullopt: by document where there are enough
  std::array<std::vector<fs::path>, 3> given;  // files of training, validation and test, instead of `from`
  std::optional<std::string> books;            // most training books, or "all"; nullopt: the paper's
  std::optional<std::string> valid_tokens;     // most tokens of a validation book, or "all"; nullopt: the paper's
  std::string documents = "files";             // or "articles" or "rows"
  std::optional<std::string> column;    // of tables and JSON lines: the column of the text; nullopt: "text" in tables
  bool skip_bad_rows = false;           // rows that cannot be read are left out
  bool as_text = false;                 // JSON, web pages and the like are read as text
  std::optional<std::string> language;  // a code in languages()
  std::optional<std::string> limit;     // "TRAIN,VALID,TEST" in raw characters; nullopt: the corpus's default
  std::optional<std::string> hebrew_points;  // "remove" (the default) or "space"
  std::string vocabulary = "all";            // or "train"
  bool strict = false;                       // invalid UTF-8 is an error
  int threads = 0;                           // 0: one for each core; the result is the same for any number
  bool keep_text = false;                    // also write train.txt, valid.txt, test.txt
  bool force = false;                        // replace a folder made from other files or with other options
  std::int64_t max_unpacked = 0;             // bytes, as in ArchiveReader
  std::vector<std::int64_t> train_unigram;   // numbers of pieces of unigram tokenizers to train and segment with
  std::vector<fs::path> unigram;             // SentencePiece models to segment with

  bool has_given_splits() const {
    return std::ranges::any_of(given, [](const auto& files) { return !files.empty(); });
  }
};

/// A request that fits its corpus, with every default filled in and the encoding read.
struct Preparation {
  PrepareRequest request;
  const Corpus* corpus = nullptr;
  CorpusSettings settings;
  VocabularyScope scope = VocabularyScope::kAll;
  SplitPlan split;
};

/// Throws UsageError for options that do not fit the corpus, DataError if the encoding cannot be read.
Preparation check_request(PrepareRequest request);

/// The name of own text without --name, from the last part of --out; "" for other corpora, which have their own.
std::string default_name(const Preparation& preparation);

/// Whether the request uses byte pairs but has no encoding. Throws UsageError for an unknown corpus or unit.
bool lacks_encoding(const PrepareRequest& request);

/// The files of the request, in the order in which the corpus reads them. Each has its split if the request gives it.
/// If only names give it, files of text follow them unless --split divides the whole. Throws DataError if the names are
/// not clear, UsageError for a folder where one file is needed.
std::vector<SourceFile> request_sources(const Preparation& preparation, const PrepareObserver& observer);

struct PrepareResult {
  bool was_there = false;     // existed already, from the same files with the same options: no token file was made
  std::int64_t replaced = 0;  // pieces of invalid UTF-8 that became U+FFFD
};

/// Makes the requested folder, whole or not at all; the same request gives the same bytes. Throws UsageError for a
/// split longer than the text and for a folder in the way; DataError for missing, empty, corrupt or wrong files;
/// ResourceError if the disk is full.
PrepareResult prepare(const Preparation& preparation, const PrepareObserver& observer);

}  // namespace xlm
