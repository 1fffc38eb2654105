// wikitext-103, raw: each file is one document, encoded as one string (docs/corpora.md#wikitext-103). The splits are as
// published.
#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "datasets/corpora/reading.h"
#include "datasets/corpora/split_names.h"
#include "datasets/corpora/wikitext.h"

namespace xlm {
namespace {

constexpr const char* kOthers = "files that are none of WikiText";

/// The split of a file by its name: wiki.train.raw; validation and test by any word for them.
std::optional<std::size_t> wikitext_split(const fs::path& file) {
  const std::vector<std::string> parts = split(file.filename().string(), '.');
  if (parts.size() != 3 || parts[0] != "wiki" || parts[2] != "raw") return std::nullopt;
  return split_of_word(parts[1]);
}

DataError no_wikitext(const std::string& where) {
  return DataError(
      fmt::format("{} has none of wiki.train.raw, wiki.valid.raw, wiki.test.raw\nname the folder or archive of the raw "
                  "text with --from; for tables of a hub: xlm data import FOLDER --unit bpe",
                  where));
}

std::vector<SourceFile> select_wikitext103(const std::vector<SourceFile>& found, const CorpusSettings& /*settings*/,
                                           const PrepareObserver& observer) {
  std::vector<SourceFile> chosen;
  for (const SourceFile& source : found) {
    if (source.named || wikitext_split(source.path)) {  // a named file may be an archive
      chosen.push_back(source);
    } else {
      observer.pass_over(kOthers, source.name);
    }
  }
  if (chosen.empty()) throw no_wikitext("the folder");
  return chosen;
}

void read_wikitext103(const std::vector<SourceFile>& sources, const CorpusSettings& settings,
                      const PrepareObserver& observer, CleanText& text) {
  bool any = false;
  const DocumentSink sink{.begin = [&] { text.begin_document(); },
                          .write = [&](std::string_view block) { text.write(block); },
                          .end = [] {}};
  read_sources(sources, settings.reading, observer, [&](const TextFile& file) {
    const std::optional<std::size_t> split =
        wikitext_split(file.entry.empty() ? file.source.path : fs::path(file.entry));
    if (!split) return observer.pass_over(kOthers, file.label);
    any = true;
    text.begin_split(*split);
    WikitextDocuments documents(sink, settings.documents == DocumentUnit::kArticles);
    for_each_block(
        file, [&](std::string_view block) { documents.write(block); }, settings.line_ends);
    documents.finish();
  });
  if (!any) throw no_wikitext(sources.front().path.string());
}

}  // namespace

Corpus wikitext103_corpus() {
  return {.name = "wikitext-103",
          .summary =
              "Wikipedia articles, raw: a folder or archive with wiki.{train,valid,test}.raw; needs --bpe "
              "or --unit byte",
          .language = "en",
          .cleanings = {"none"},
          .units = {"bpe", "byte"},
          .folders = true,
          .own_splits = true,
          .has_articles = true,
          .line_ends_are_words = true,
          .select = select_wikitext103,
          .read = read_wikitext103};
}

}  // namespace xlm
