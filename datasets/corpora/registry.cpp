// The table of corpora, made from the list in corpora.def.
#include "datasets/corpora/registry.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace xlm {

#define XLM_CORPUS(name) Corpus name##_corpus();
#include "datasets/corpora/corpora.def"
#undef XLM_CORPUS

const std::vector<Corpus>& corpora() {
  static const std::vector<Corpus> table{
#define XLM_CORPUS(name) name##_corpus(),
#include "datasets/corpora/corpora.def"
#undef XLM_CORPUS
  };
  return table;
}

const Corpus& find_corpus(const std::string& name) {
  std::vector<std::string> names;
  for (const Corpus& corpus : corpora()) {
    if (corpus.name == name) return corpus;
    names.emplace_back(corpus.name);
  }
  throw UsageError(
      fmt::format("unknown dataset '{}'{}\nchoose one of: {}", name, did_you_mean(name, names), join(names, ", ")));
}

}  // namespace xlm
