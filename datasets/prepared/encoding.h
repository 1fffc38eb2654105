// From clean text to the token files of its splits.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/files.h"
#include "datasets/prepared/clean_text.h"
#include "datasets/tokens/vocabulary.h"

namespace xlm {

struct PrepareObserver;

/// Which symbols have ids.
enum class VocabularyScope {
  kAll,    // those of the whole text
  kTrain,  // those of the training split and U+FFFD, which replaces new symbols of the other splits
};

/// The result of one split.
struct EncodedSplit {
  std::int64_t tokens = 0;
  std::int64_t words = 0;  // runs of anything but ASCII white space; a document's end ends a word
  std::int64_t bytes = 0;
  std::int64_t unknown = 0;  // symbols that became U+FFFD
  std::vector<std::int64_t> documents;
  std::vector<std::int64_t> document_words;  // the same counts for each document
  std::vector<std::int64_t> document_bytes;
};

struct EncodeSettings {
  VocabularyScope scope = VocabularyScope::kAll;
  bool keep_text = false;            // also write train.txt, …
  bool line_ends_are_words = false;  // each counts as one more word
  int threads = 1;
};

struct EncodedText {
  Vocabulary vocabulary;
  std::map<std::string, EncodedSplit> splits;  // those that are not empty
  std::map<std::string, std::string> outputs;  // file: sha256
};

/// Writes train.bin, valid.bin and test.bin to `folder`: the `parts`, from the start of the text. Parts of one
/// split follow each other in its file. The caller sees to it that the files reach the disk (sync_file).
EncodedText encode(const CleanText& text, const std::vector<SplitPart>& parts, const EncodeSettings& settings,
                   const fs::path& folder, const PrepareObserver& observer);

}  // namespace xlm
