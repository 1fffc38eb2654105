// enwik8: the unchanged bytes.
#include "datasets/corpora/reading.h"

namespace xlm {
namespace {

void read_enwik8(const std::vector<SourceFile>& sources, const CorpusSettings& settings,
                 const PrepareObserver& observer, CleanText& text) {
  text.begin_document();
  read_sources(sources, settings.reading, observer, [&](const TextFile& file) {
    check_single(file, "enwik8");
    for_each_block(
        file, [&](std::string_view block) { text.write(block); }, LineEnds::kKeep);
  });
}

}  // namespace

Corpus enwik8_corpus() {
  return {.name = "enwik8",
          .summary = "Wikipedia's raw XML as bytes: enwik8.zip or the file enwik8",
          .language = "en",
          .cleanings = {"none"},
          .units = {"byte"},
          .read = read_enwik8};
}

}  // namespace xlm
