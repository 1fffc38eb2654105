// The corpora that prepare-data knows: one explicit table; help, checks and "did you mean" come from it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/clean_text.h"
#include "datasets/sources.h"

namespace xlm {

/// What a corpus is asked for, with every default filled in.
struct CorpusSettings {
  std::string cleaning;  // "none" or "text8"
  Vocabulary::Unit unit = Vocabulary::Unit::kCharacter;
  ReadSettings reading;
};

/// Reads `sources` and writes clean documents to `text`. Throws DataError for what does not belong to the corpus.
using ReadCorpus = void (*)(const std::vector<SourceFile>& sources, const CorpusSettings& settings,
                            const PrepareObserver& observer, CleanText& text);

struct Corpus {
  std::string_view name;
  std::string_view summary;                 // for help: what it is, and what --from takes
  std::string_view language;                // "" where it is not known
  std::vector<std::string_view> cleanings;  // what --clean may say; the first is the default
  std::vector<std::string_view> units;      // what --unit may say; the first is the default
  bool folders = false;                     // --from takes folders of many files, and --glob
  ReadCorpus read = nullptr;
};

const std::vector<Corpus>& corpora();

/// Throws UsageError with the nearest right name.
const Corpus& find_corpus(const std::string& name);

}  // namespace xlm
