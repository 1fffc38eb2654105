// cc-100: web pages of one language, a paragraph per line, a blank line between pages; cleaned for the language. The
// splits follow each other from the start of the file, and are cut to their limits before cleaning.
#include <fmt/format.h>

#include "base/error.h"
#include "datasets/cleaning/language_cleaner.h"
#include "datasets/corpora/reading.h"

namespace xlm {
namespace {

void check_cc_100(std::string_view head, const std::string& label) {
  std::string_view found;
  for (const std::string_view sign : {"_START_ARTICLE_", "<mediawiki", "<doc "}) {
    if (head.find(sign) != std::string_view::npos) found = sign;
  }
  if (found.empty()) return;
  throw DataError(
      fmt::format("{} is not cc-100, which is plain text: it contains {}\nname fi.txt.xz or the like", label, found));
}

/// The splits, filled one after the other.
class SplitFiller {
 public:
  SplitFiller(const CharacterRules& rules, const CorpusSettings& settings, CleanText& text)
      : limits_(settings.limits),
        language_(settings.language),
        text_(&text),
        cleaner_(rules, DocumentMark::kBlankLine, settings.threads,
                 [&text](std::string_view clean, const std::vector<std::size_t>& documents) {
                   text.write_clean(clean, documents);
                 }) {
    text_->begin_split(0);
    cleaner_.set_limit(limits_.front());
  }

  /// Returns false once all splits are full.
  bool write(std::string_view block) {
    std::string valid;
    repair_.write(block, valid);
    return take(valid);
  }

  void finish() {
    std::string valid;
    repair_.finish(valid);
    take(valid);
    cleaner_.finish();
    text_->add_replaced(repair_.replaced());
    set_thrown_away(cleaner_.foreign(), language_, *text_);
    if (split_ + 1 < limits_.size() || !cleaner_.full()) {
      throw UsageError(
          fmt::format("the text has {} characters, but --limit asks for {}\ngive smaller counts, such as "
                      "--limit {},{},{}",
                      cleaner_.characters(), limits_[0] + limits_[1] + limits_[2], cleaner_.characters() * 9 / 10,
                      cleaner_.characters() / 20, cleaner_.characters() / 20));
    }
  }

 private:
  bool take(std::string_view valid) {
    while (true) {
      valid.remove_prefix(cleaner_.write_valid(valid));
      if (!cleaner_.full()) return true;
      if (split_ + 1 == limits_.size()) return false;
      cleaner_.finish();
      text_->begin_split(++split_);
      cleaner_.set_limit(limits_.at(split_));
    }
  }

  SplitSizes limits_;
  const Language* language_;
  CleanText* text_;
  Utf8Repair repair_;
  LanguageCleaner cleaner_;
  std::size_t split_ = 0;
};

void read_cc_100(const std::vector<SourceFile>& sources, const CorpusSettings& settings,
                 const PrepareObserver& observer, CleanText& text) {
  const CharacterRules rules(*settings.language, settings.points);
  SplitFiller splits(rules, settings, text);
  bool more = true;
  read_sources(sources, settings.reading, observer, [&](const TextFile& file) {
    check_single(file, "cc-100");
    bool first = true;
    if (!more) return;
    for_each_block_until(file, settings.strict, [&](std::string_view block) {
      if (std::exchange(first, false)) check_cc_100(block, file.label);
      more = splits.write(block);
      return more;
    });
  });
  splits.finish();
}

}  // namespace

Corpus cc_100_corpus() {
  return {.name = "cc-100",
          .summary = "Web pages in --lang: en.txt.xz, fi.txt.xz, he.txt.xz or vi.txt.xz",
          .language = "",
          .cleanings = {"text8"},
          .units = {"character", "byte"},
          .own_splits = true,
          .needs_language = true,
          .limits = "400000000,2000000,2000000",
          .read = read_cc_100};
}

}  // namespace xlm
