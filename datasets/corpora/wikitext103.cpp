// wikitext-103, raw: each file is one document, encoded as one string (docs/data.md#wikitext-103). The splits are the
// publisher's.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "datasets/corpora/reading.h"
#include "datasets/prepared/split_plan.h"

namespace xlm {
namespace {

std::string wikitext_file(std::size_t split) { return fmt::format("wiki.{}.raw", kSplitNames.at(split)); }

/// Which split a path names by its last part.
std::optional<std::size_t> wikitext_split(std::string_view path) {
  for (std::size_t split = 0; split < kSplitNames.size(); ++split) {
    const std::string file = wikitext_file(split);
    if (!path.ends_with(file)) continue;
    const std::string_view before = path.substr(0, path.size() - file.size());
    if (before.empty() || before.ends_with('/') || before.ends_with(": ")) return split;  // ": " begins an entry's name
  }
  return std::nullopt;
}

DataError no_wikitext(const std::string& where) {
  std::vector<std::string> files;
  for (std::size_t split = 0; split < kSplitNames.size(); ++split) files.push_back(wikitext_file(split));
  return DataError(fmt::format("{} holds none of {}\nname the folder or archive of the raw text with --from", where,
                               join(files, ", ")));
}

std::vector<SourceFile> select_wikitext103(const std::vector<SourceFile>& found, const CorpusSettings& /*settings*/) {
  std::vector<SourceFile> chosen;
  std::copy_if(found.begin(), found.end(), std::back_inserter(chosen), [](const SourceFile& source) {
    return source.named || wikitext_split(source.name);  // what is named may be an archive
  });
  if (chosen.empty()) throw no_wikitext("the folder");
  return chosen;
}

void read_wikitext103(const std::vector<SourceFile>& sources, const CorpusSettings& settings,
                      const PrepareObserver& observer, CleanText& text) {
  bool any = false;
  read_sources(sources, settings.reading, observer, [&](const TextFile& file) {
    const std::optional<std::size_t> split = wikitext_split(file.label);
    if (!split) return;
    any = true;
    text.begin_split(*split);
    text.begin_document();
    for_each_block(file, [&](std::string_view block) { text.write(block); });
  });
  if (!any) throw no_wikitext(sources.front().path.string());
}

}  // namespace

Corpus wikitext103_corpus() {
  return {.name = "wikitext-103",
          .summary = "Wikipedia articles, raw: a folder or archive with wiki.{train,valid,test}.raw; needs --bpe",
          .language = "en",
          .cleanings = {"none"},
          .units = {"bpe"},
          .folders = true,
          .own_splits = true,
          .line_ends_are_words = true,
          .select = select_wikitext103,
          .read = read_wikitext103};
}

}  // namespace xlm
