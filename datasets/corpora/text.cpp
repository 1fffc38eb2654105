// text: any files of the user's own, one document each, or tables and JSON lines whose rows are documents.
#include <optional>

#include "datasets/cleaning/language_cleaner.h"
#include "datasets/cleaning/text8_filter.h"
#include "datasets/corpora/documents.h"
#include "datasets/corpora/reading.h"

namespace xlm {
namespace {

/// Begins a split where the user says that this file is of another one than the last. True where it does.
bool begin_given_split(const TextFile& file, std::optional<std::size_t>& present, CleanText& text) {
  if (file.source.split == present) return false;
  present = file.source.split;
  text.begin_split(*present);
  return true;
}

/// In the alphabet of a language; documents are joined by line breaks.
void read_in_language(const std::vector<SourceFile>& sources, const CorpusSettings& settings,
                      const PrepareObserver& observer, CleanText& text) {
  const CharacterRules rules(*settings.language, settings.points);
  bool any = false;
  LanguageCleaner cleaner(rules, DocumentMark::kNone, settings.threads,
                          [&](std::string_view clean, const std::vector<std::size_t>& documents) {
                            if (!documents.empty() && std::exchange(any, true)) text.write_clean("\n", {});
                            text.write_clean(clean, documents);
                          });
  const DocumentSink sink{
      .begin = [] {}, .write = [&](std::string_view block) { cleaner.write(block); }, .end = [&] { cleaner.finish(); }};
  std::optional<std::size_t> split;
  read_sources(sources, settings.reading, observer, [&](const TextFile& file) {
    if (begin_given_split(file, split, text)) any = false;
    for_each_document(file, settings, settings.strict, sink);
  });
  text.add_replaced(cleaner.replaced());
  set_thrown_away(cleaner.foreign(), settings.language, text);
}

void read_text(const std::vector<SourceFile>& sources, const CorpusSettings& settings, const PrepareObserver& observer,
               CleanText& text) {
  if (settings.language != nullptr) {
    read_in_language(sources, settings, observer, text);
    return;
  }
  Text8Cleaner cleaner([&](std::string_view clean) { text.write(clean); });
  const bool clean = settings.cleaning == "text8";
  const bool strict = settings.strict && settings.unit == Vocabulary::Unit::kCharacter;
  const DocumentSink sink{.begin =
                              [&] {
                                text.begin_document();
                                cleaner.begin_document();
                              },
                          .write = [&](std::string_view block) { clean ? cleaner.write(block) : text.write(block); },
                          .end = [] {}};
  std::optional<std::size_t> split;
  read_sources(sources, settings.reading, observer, [&](const TextFile& file) {
    begin_given_split(file, split, text);
    for_each_document(file, settings, strict, sink);
  });
  set_thrown_away(cleaner.foreign(), nullptr, text);
}

}  // namespace

Corpus text_corpus() {
  return {.name = "text",
          .summary = "text of your own: any files, archives or folders, or tables (Parquet, Arrow, JSON lines)",
          .language = "",
          .cleanings = {"none", "text8"},
          .units = {"character", "byte", "bpe"},
          .forms = {Form::kParquet, Form::kArrow, Form::kJsonLines},
          .folders = true,
          .given_splits = true,
          .read = read_text};
}

}  // namespace xlm
