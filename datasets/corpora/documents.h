// The documents of one file of one's own: the file as a whole, the rows of a table, or a field of JSON lines.
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

/// Of a Parquet or Arrow table the rows of settings.column are documents, of JSON lines each line's field of that name;
/// any other file is one document. With `strict` invalid UTF-8 is a DataError.
void for_each_document(const TextFile& file, const CorpusSettings& settings, bool strict, const DocumentSink& sink);

}  // namespace xlm
