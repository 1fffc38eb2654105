// The documents of files of one's own: a file as a whole, the rows of a table, a field of JSON lines, or the text whose
// lines are rows.
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

/// Reads file after file of a split.
class DocumentReader {
 public:
  /// With `strict` invalid UTF-8 is a DataError.
  DocumentReader(const CorpusSettings& settings, bool strict, const PrepareObserver& observer, DocumentSink sink);
  ~DocumentReader();

  /// Of a Parquet or Arrow table the rows of settings.column are documents, or lines of WikiText
  /// (settings.wikitext_rows); of JSON lines each line's field of that name is one; any other file is one document.
  void read(const TextFile& file);
  /// The split ends.
  void finish();

 private:
  void take_row(const TextFile& file, std::string_view row);

  const CorpusSettings* settings_;
  bool strict_;
  const PrepareObserver* observer_;
  DocumentSink sink_;
  std::unique_ptr<WikitextDocuments> lines_;  // of the split, where rows are lines
};

/// Whether the files are tables whose rows are lines of WikiText, by the first rows of each. Throws DataError where
/// some are and others are not.
bool rows_are_wikitext(const std::vector<SourceFile>& sources, const CorpusSettings& settings);

}  // namespace xlm
