// text: any files of the user's own, one document each.
#include <optional>

#include "datasets/cleaning/language_cleaner.h"
#include "datasets/cleaning/text8_filter.h"
#include "datasets/corpora/reading.h"

namespace xlm {
namespace {

/// In the alphabet of a language; files are joined by line breaks.
void read_in_language(const std::vector<SourceFile>& sources, const CorpusSettings& settings,
                      const PrepareObserver& observer, CleanText& text) {
  const CharacterRules rules(*settings.language, settings.points);
  bool any = false;
  LanguageCleaner cleaner(rules, DocumentMark::kNone, settings.threads,
                          [&](std::string_view clean, const std::vector<std::size_t>& documents) {
                            if (!documents.empty() && std::exchange(any, true)) text.write_clean("\n", {});
                            text.write_clean(clean, documents);
                          });
  read_sources(sources, settings.reading, observer, [&](const TextFile& file) {
    for_each_block_until(file, settings.strict, [&](std::string_view block) {
      cleaner.write(block);
      return true;
    });
    cleaner.finish();
  });
  text.add_replaced(cleaner.replaced());
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
  read_sources(sources, settings.reading, observer, [&](const TextFile& file) {
    text.begin_document();
    cleaner.begin_document();
    for_each_block_until(file, strict, [&](std::string_view block) {
      if (clean) {
        cleaner.write(block);
      } else {
        text.write(block);
      }
      return true;
    });
  });
}

}  // namespace

Corpus text_corpus() {
  return {.name = "text",
          .summary = "text of your own: any files, archives or folders",
          .language = "",
          .cleanings = {"none", "text8"},
          .units = {"character", "byte", "bpe"},
          .folders = true,
          .read = read_text};
}

}  // namespace xlm
