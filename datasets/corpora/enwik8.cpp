// enwik8: the bytes as they are.
#include "datasets/corpora/reading.h"

namespace xlm {

void read_enwik8(const std::vector<SourceFile>& sources, const CorpusSettings& settings,
                 const PrepareObserver& observer, CleanText& text) {
  text.begin_document();
  read_sources(sources, settings.reading, observer, [&](const TextFile& file) {
    check_single(file, "enwik8");
    for_each_block(file, [&](std::string_view block) { text.write(block); });
  });
}

}  // namespace xlm
