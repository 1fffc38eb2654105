// Documents of files and of tables.
#include "datasets/corpora/documents.h"

#include <fmt/format.h>

#include "base/error.h"
#include "datasets/corpora/reading.h"
#include "datasets/input/parquet.h"

namespace xlm {
namespace {

enum class TableForm { kNone, kParquet, kArrow };

/// What a file of the user's begins with says whether it is a table; files in archives are text.
TableForm form_of_table(const TextFile& file) {
  if (file.label != file.source.path.string()) return TableForm::kNone;
  std::string head(8, '\0');
  InputFile input(file.source.path);
  head.resize(input.read(head.data(), head.size()));
  if (head.starts_with(kParquetMagic)) return TableForm::kParquet;
  const bool arrow = head.starts_with(kArrowFileMagic) || head.starts_with(kArrowStreamMagic);
  return arrow ? TableForm::kArrow : TableForm::kNone;
}

void for_each_row(const TextFile& file, ParquetColumn& column, bool strict, const DocumentSink& sink) {
  for (std::string text; column.next(text);) {
    if (strict) {
      StrictUtf8 check(file.label + ", a row");
      check.write(text);
      check.finish();
    }
    sink.begin();
    sink.write(text);
    sink.end();
    file.at(static_cast<std::uint64_t>(column.progress() * static_cast<double>(file.source.size)));
  }
}

}  // namespace

void for_each_document(const TextFile& file, const CorpusSettings& settings, bool strict, const DocumentSink& sink) {
  const TableForm form = form_of_table(file);
  if (form != TableForm::kNone) {
    const auto column = form == TableForm::kArrow
                            ? open_arrow(file.source.path, settings.column)
                            : open_parquet(file.source.path, settings.column, settings.reading.max_unpacked);
    for_each_row(file, *column, strict, sink);
    return;
  }
  sink.begin();
  for_each_block_until(file, strict, [&](std::string_view block) {
    sink.write(block);
    return true;
  });
  sink.end();
}

}  // namespace xlm
