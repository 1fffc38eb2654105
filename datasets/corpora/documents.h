// The documents of a user's files: a whole file, the rows of a table, a field of JSON lines, or the text whose lines
// are rows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/corpora/registry.h"

namespace xlm {

/// Takes documents, each in pieces.
struct DocumentSink {
  std::function<void()> begin;
  std::function<void(std::string_view text)> write;
  std::function<void()> end;
};

class ParquetColumn;
class WikitextDocuments;

/// Reads the files of a split one after the other.
class DocumentReader {
 public:
  /// If `strict`, invalid UTF-8 is a DataError.
  DocumentReader(const CorpusSettings& settings, bool strict, const PrepareObserver& observer, DocumentSink sink);
  ~DocumentReader();

  /// Documents of a Parquet or Arrow table are the rows of settings.column, or are made of lines of WikiText
  /// (settings.wikitext_rows). Documents of JSON lines are each line's field of that name. Any other file is one
  /// document.
  void read(const TextFile& file);
  /// The split ends.
  void finish();

 private:
  void take_row(const TextFile& file, std::string_view row);
  /// Says once that bytes of the files changed.
  void note_line_ends(bool changed);

  const CorpusSettings* settings_;
  bool strict_;
  const PrepareObserver* observer_;
  DocumentSink sink_;
  bool said_line_ends_ = false;
  std::unique_ptr<WikitextDocuments> lines_;  // of the split, if rows are lines
};

/// Whether the files are tables whose rows are lines of WikiText, by the first rows of each. Throws DataError if only
/// some are.
bool rows_are_wikitext(const std::vector<SourceFile>& sources, const CorpusSettings& settings);

}  // namespace xlm
