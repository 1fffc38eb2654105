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

/// Begins a document at every article's heading, " = Title = " between two blank lines; what stands before the first
/// heading belongs to it.
class Articles {
 public:
  explicit Articles(CleanText& text) : text_(&text) {}

  void write(std::string_view block) {
    rest_ += block;
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = rest_.find('\n', begin)) != std::string::npos; begin = end + 1) {
      take_line(std::string_view(rest_).substr(begin, end + 1 - begin));
    }
    rest_.erase(0, begin);
  }

  void finish() {
    text_->write(heading_);
    text_->write(rest_);
  }

 private:
  static bool is_title(std::string_view line) {
    const std::string_view words = trim(line);
    return words.size() > 4 && words.starts_with("= ") && words.ends_with(" =") && !words.starts_with("= =");
  }

  void take_line(std::string_view line) {
    const bool blank = trim(line).empty();
    if (!heading_.empty()) {  // a title, if a blank line follows it
      if (blank && any_) text_->begin_document();
      any_ = true;
      text_->write(heading_);
      heading_.clear();
    }
    if (after_blank_ && is_title(line)) {
      heading_ = line;
    } else {
      text_->write(line);
      any_ = any_ || !blank;
    }
    after_blank_ = blank;
  }

  CleanText* text_;
  std::string rest_;     // of a line whose end has not come yet
  std::string heading_;  // what may be one
  bool after_blank_ = true;
  bool any_ = false;  // there is more than blank lines
};

void read_wikitext103(const std::vector<SourceFile>& sources, const CorpusSettings& settings,
                      const PrepareObserver& observer, CleanText& text) {
  bool any = false;
  read_sources(sources, settings.reading, observer, [&](const TextFile& file) {
    const std::optional<std::size_t> split = wikitext_split(file.label);
    if (!split) return;
    any = true;
    text.begin_split(*split);
    text.begin_document();
    Articles articles(text);
    for_each_block(file, [&](std::string_view block) {
      if (settings.articles) {
        articles.write(block);
      } else {
        text.write(block);
      }
    });
    articles.finish();
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
          .has_articles = true,
          .line_ends_are_words = true,
          .select = select_wikitext103,
          .read = read_wikitext103};
}

}  // namespace xlm
