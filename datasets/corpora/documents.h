// The documents of one file of one's own: the file as a whole, or the rows of a table.
#pragma once

#include <functional>
#include <string_view>

#include "datasets/corpora/registry.h"

namespace xlm {

/// Takes documents, each in pieces.
struct DocumentSink {
  std::function<void()> begin;
  std::function<void(std::string_view text)> write;
  std::function<void()> end;
};

/// A Parquet or Arrow file is a table, whose rows of settings.column are documents; any other file is one document.
/// With `strict` invalid UTF-8 is a DataError.
void for_each_document(const TextFile& file, const CorpusSettings& settings, bool strict, const DocumentSink& sink);

}  // namespace xlm
