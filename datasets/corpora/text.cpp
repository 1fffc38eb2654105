// text: any files of the user's own, one document each, or tables and JSON lines whose rows are documents.
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "datasets/cleaning/language_cleaner.h"
#include "datasets/cleaning/text8_filter.h"
#include "datasets/corpora/documents.h"
#include "datasets/corpora/reading.h"
#include "datasets/corpora/split_names.h"

namespace xlm {
namespace {

/// Reads file after file, and split after split if files have splits. Calls `begin_split` before each split.
void read_documents(const std::vector<SourceFile>& sources, const CorpusSettings& settings,
                    const PrepareObserver& observer, DocumentReader& reader,
                    const std::function<void(std::size_t split)>& begin_split) {
  std::optional<std::size_t> split;
  std::optional<NamedSplit> of_entries;
  std::string first;
  read_sources(sources, settings.reading, observer, [&](const TextFile& file) {
    if (file.source.split != split) {
      reader.finish();
      split = file.source.split;
      begin_split(*split);
    }
    if (!split && !settings.whole && !file.entry.empty()) {
      const auto of_entry = named_split({.path = file.entry, .name = file.entry, .root = {}, .split = {}});
      if (of_entry && of_entries && of_entry->split != of_entries->split) {
        throw DataError(fmt::format(
            "{} and {} belong to two splits, but an archive is read as one text\nunpack it and name the folder, "
            "or divide the whole text: --split 90%,5%,5%",
            first, file.label));
      }
      if (of_entry && !std::exchange(of_entries, of_entry)) first = file.label;
    }
    reader.read(file);
  });
  reader.finish();
}

/// Cleans to the alphabet of a language; documents are joined by line breaks.
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
  DocumentReader reader(settings, settings.strict, observer, sink);
  read_documents(sources, settings, observer, reader, [&](std::size_t split) {
    text.begin_split(split);
    any = false;
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
  const bool characters = settings.unit == Vocabulary::Unit::kCharacter;
  const auto take = [&](std::string_view clean) { characters ? text.write_clean(clean, {}) : text.write(clean); };
  Text8Cleaner cleaner(take, settings.threads);
  const bool clean = settings.cleaning == "text8";
  const bool strict = settings.strict && characters;
  const DocumentSink sink{.begin = [&] { text.begin_document(); },
                          .write = [&](std::string_view block) { clean ? cleaner.write(block) : text.write(block); },
                          .end = [&] { cleaner.finish(); }};
  DocumentReader reader(settings, strict, observer, sink);
  read_documents(sources, settings, observer, reader, [&](std::size_t split) { text.begin_split(split); });
  set_thrown_away(cleaner.foreign(), nullptr, text);
}

}  // namespace

Corpus text_corpus() {
  return {.name = "text",
          .summary = "your own text: any files, archives or folders, or tables (Parquet, Arrow, JSON lines)",
          .language = "",
          .cleanings = {"none", "text8"},
          .units = {"character", "byte", "bpe"},
          .forms = {FileForm::kParquet, FileForm::kArrow, FileForm::kJsonLines},
          .folders = true,
          .has_articles = true,
          .tables = true,
          .given_splits = true,
          .read = read_text};
}

}  // namespace xlm
