// text: any files of the user's own, one document each.
#include "datasets/corpora.h"
#include "datasets/text8_filter.h"

namespace xlm {

void read_text(const std::vector<SourceFile>& sources, const CorpusSettings& settings, const PrepareObserver& observer,
               CleanText& text) {
  Text8Cleaner cleaner([&](std::string_view clean) { text.write(clean); });
  const bool clean = settings.cleaning == "text8";
  read_sources(sources, settings.reading, observer, [&](const TextFile& file) {
    text.begin_document();
    cleaner.begin_document();
    for_each_block(file, [&](std::string_view block) {
      if (clean) {
        cleaner.write(block);
      } else {
        text.write(block);
      }
    });
  });
}

}  // namespace xlm
