// wiki40b: articles with markers, as Parquet shards or as text; cleaned for a language. Articles
// are joined by line breaks, and each split is cut to its limit before cleaning.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "datasets/cleaning/language_cleaner.h"
#include "datasets/corpora/reading.h"
#include "datasets/corpora/split_names.h"
#include "datasets/input/parquet.h"

namespace xlm {
namespace {

constexpr std::string_view kFirstMarker = "_START_ARTICLE_";
constexpr const char* kTextFeature = "text";

/// Whether the name contains `language`: "fi/train.parquet", "train/fi_examples-00000-of-00002".
bool names_language(const std::string& name, std::string_view language) {
  for (const std::string& part : split(name, '/')) {
    const bool of_shard = part.size() > language.size() && part.starts_with(language) && part[language.size()] == '_';
    if (part == language || of_shard) return true;
  }
  return false;
}

/// Takes the texts of one split, article by article or in any pieces.
class SplitReader {
 public:
  SplitReader(LanguageCleaner& cleaner, const CorpusSettings& settings) : cleaner_(&cleaner), settings_(&settings) {}

  void read(const TextFile& file) {
    if (cleaner_->full()) return;
    if (file.form == FileForm::kParquet) {
      read_parquet(file);
    } else {
      read_text(file);
    }
    printed_.finish(file.label);
  }

 private:
  void read_parquet(const TextFile& file) {
    const auto column = open_parquet(file.source.path, kTextFeature, settings_->reading.max_unpacked);
    for (std::string text; !cleaner_->full() && column->next(text);) {
      take_article(text, file.label);
      file.at(static_cast<std::uint64_t>(column->progress() * static_cast<double>(file.source.size)));
    }
  }

  void read_text(const TextFile& file) {
    bool first = true;
    for_each_block_until(file, settings_->strict, [&](std::string_view block) {
      if (std::exchange(first, false)) {
        check_form(block, file.label);
        begin_text();
      }
      cleaner_->write(block);
      return !cleaner_->full();
    });
    if (first) check_form("", file.label);
  }

  void take_article(std::string_view text, const std::string& label) {
    if (text.empty()) return;
    if (std::exchange(checked_, label) != label) check_form(text, label);
    printed_.take(text, label);
    if (settings_->strict) {
      StrictUtf8 strict(label + ", an article");
      strict.write(text);
      strict.finish();
    }
    begin_text();
    UnixLineEnds line_ends;
    cleaner_->write(line_ends.write(text));
  }

  void begin_text() {
    if (std::exchange(any_, true)) cleaner_->write("\n");
  }

  static void check_form(std::string_view text, const std::string& label) {
    if (text.find(kFirstMarker) != std::string_view::npos) return;
    throw DataError(
        fmt::format("{} is not wiki40b: it does not begin with {}\nname its Parquet shards, or text "
                    "with the same markers; for other text: xlm prepare-data text --clean text8 --lang {}",
                    label, kFirstMarker, "LANG"));
  }

  LanguageCleaner* cleaner_;
  const CorpusSettings* settings_;
  PrintedRows printed_;
  bool any_ = false;
  std::string checked_;  // the label of the last file whose form was checked
};

/// The shards of the language, if names contain languages. Throws DataError if no shard is left.
std::vector<SourceFile> select_wiki40b(const std::vector<SourceFile>& found, const CorpusSettings& settings,
                                       const PrepareObserver& observer) {
  std::vector<SourceFile> sources;
  const auto names_any = [](const SourceFile& source) {
    return std::any_of(languages().begin(), languages().end(),
                       [&](const Language& language) { return names_language(source.name, language.code); });
  };
  if (std::ranges::none_of(found, names_any)) return found;
  for (const SourceFile& source : found) {
    if (names_language(source.name, settings.language->code)) {
      sources.push_back(source);
    } else {
      observer.pass_over("files of other languages", source.name);
    }
  }
  if (sources.empty()) {
    throw DataError(fmt::format("no named file has the language '{}'\nname its shards, or choose another --lang",
                                settings.language->code));
  }
  return sources;
}

void read_wiki40b(const std::vector<SourceFile>& sources, const CorpusSettings& settings,
                  const PrepareObserver& observer, CleanText& text) {
  std::array<std::vector<SourceFile>, 3> splits;
  for (SourceFile& source :
       split_by_names(sources, split_names(sources), "call each file or its folder train, validation or test")) {
    splits.at(*source.split).push_back(std::move(source));
  }
  const CharacterRules rules(*settings.language, settings.points);
  LanguageCleaner cleaner(
      rules, DocumentMark::kArticle, settings.threads,
      [&](std::string_view clean, const std::vector<std::size_t>& documents) { text.write_clean(clean, documents); });
  for (std::size_t i = 0; i < splits.size(); ++i) {
    text.begin_split(i);
    cleaner.set_limit(settings.limits.at(i));
    SplitReader reader(cleaner, settings);
    read_sources(splits.at(i), settings.reading, observer, [&](const TextFile& file) { reader.read(file); });
    cleaner.finish();
  }
  text.add_replaced(cleaner.replaced());
  set_thrown_away(cleaner.foreign(), settings.language, text);
}

}  // namespace

Corpus wiki40b_corpus() {
  return {.name = "wiki40b",
          .summary = "Wikipedia in --lang: Parquet shards, or train.txt, validation.txt and test.txt",
          .language = "",
          .cleanings = {"text8"},
          .units = {"character", "byte"},
          .forms = {FileForm::kParquet},
          .folders = true,
          .own_splits = true,
          .needs_language = true,
          .limits = "400000000,2000000,10000000",
          .select = select_wiki40b,
          .read = read_wiki40b};
}

}  // namespace xlm
