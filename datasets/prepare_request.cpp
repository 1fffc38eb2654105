// The request of prepare-data.
#include "datasets/prepare.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/error.h"
#include "base/machine.h"
#include "base/text.h"
#include "datasets/corpora/split_names.h"
#include "datasets/tokens/bpe.h"

namespace xlm {
namespace {

constexpr std::int64_t kPaperBooks = 1250;         // Yoshida et al. 2020, §5
constexpr std::int64_t kPaperValidTokens = 15000;  // the same

/// One of `allowed`, or the first if nothing was requested.
std::string choose(const Corpus& corpus, const char* option, const std::optional<std::string>& wanted,
                   const std::vector<std::string_view>& allowed) {
  if (!wanted) return std::string(allowed.front());
  if (std::ranges::find(allowed, *wanted) != allowed.end()) return *wanted;
  const std::vector<std::string> names(allowed.begin(), allowed.end());
  throw UsageError(fmt::format("{} cannot be prepared with {} {}{}\nchoose one of: {}", corpus.name, option, *wanted,
                               did_you_mean(*wanted, names), join(names, ", ")));
}

/// The language of the cleaner, if the corpus needs one or text is cleaned.
const Language* choose_language(const Corpus& corpus, const PrepareRequest& request, const std::string& cleaning) {
  if (request.language) {
    const Language& language = find_language(*request.language);
    const bool own_text = corpus.language.empty() && cleaning != "none";
    if (!own_text) {
      throw UsageError(
          fmt::format("{} takes no --lang{}", corpus.name, corpus.language.empty() ? " without --clean text8" : ""));
    }
    return &language;
  }
  if (!corpus.needs_language) return nullptr;
  std::vector<std::string> codes;
  for (const Language& language : languages()) codes.emplace_back(language.code);
  throw UsageError(fmt::format("{} needs --lang\nchoose one of: {}", corpus.name, join(codes, ", ")));
}

HebrewPoints choose_points(const Language* language, const std::optional<std::string>& wanted) {
  if (!wanted) return HebrewPoints::kRemove;
  if (language == nullptr || language->code != "he") throw UsageError("--hebrew-points needs --lang he");
  if (*wanted == "remove") return HebrewPoints::kRemove;
  if (*wanted == "space") return HebrewPoints::kSpace;
  throw UsageError(fmt::format("--hebrew-points {}: use remove or space", *wanted));
}

SplitSizes choose_limits(const Corpus& corpus, const std::optional<std::string>& wanted) {
  if (corpus.limits.empty()) {
    if (wanted) throw UsageError(fmt::format("{} takes no --limit", corpus.name));
    return {};
  }
  const std::string text = wanted.value_or(std::string(corpus.limits));
  const std::vector<std::string> words = split(text, ',');
  SplitSizes limits{};
  bool good = words.size() == limits.size();
  for (std::size_t i = 0; good && i < limits.size(); ++i) {
    good = parse_integer(trim(words[i]), limits.at(i)) && limits.at(i) >= 0;
  }
  if (good && limits != SplitSizes{}) return limits;
  throw UsageError(
      fmt::format("--limit {}: give three counts of characters for training, validation and test, such as "
                  "--limit {}",
                  text, corpus.limits));
}

/// Own text is the same text in every unit, so that its numbers can be compared. The bytes of a named corpus are its
/// files'.
LineEnds choose_line_ends(const Corpus& corpus, const std::optional<std::string>& wanted, Vocabulary::Unit unit) {
  if (!corpus.given_splits) {
    if (wanted) throw UsageError(fmt::format("{} takes no --line-ends: its text is as published", corpus.name));
    return unit == Vocabulary::Unit::kByte ? LineEnds::kKeep : LineEnds::kUnix;
  }
  if (!wanted || *wanted == "unix") return LineEnds::kUnix;
  if (*wanted == "keep") return LineEnds::kKeep;
  throw UsageError(fmt::format("--line-ends {}: use unix or keep", *wanted));
}

constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();

/// A count, "all", or the default if nothing was requested.
std::int64_t choose_most(const Corpus& corpus, const char* option, const std::optional<std::string>& wanted,
                         std::int64_t usual) {
  if (!wanted) return usual;
  if (!corpus.cut_books) throw UsageError(fmt::format("{} takes no {}: it has no books", corpus.name, option));
  if (*wanted == "all") return kAll;
  std::int64_t count = 0;
  if (parse_integer(*wanted, count) && count > 0) return count;
  throw UsageError(fmt::format("{} {}: give a number of at least 1, or all", option, *wanted));
}

DocumentUnit choose_documents(const Corpus& corpus, const std::string& wanted) {
  if (wanted == "files") return DocumentUnit::kFiles;
  if (wanted == "rows" && corpus.tables) return DocumentUnit::kRows;
  if (wanted != "articles" && wanted != "rows") {
    throw UsageError(
        fmt::format("--documents {}: use files or articles{}", wanted, corpus.tables ? ", or rows of tables" : ""));
  }
  if (wanted == "rows") throw UsageError(fmt::format("{} has no rows: leave --documents out", corpus.name));
  if (!corpus.has_articles) {
    throw UsageError(fmt::format("{} has no known articles: leave --documents out", corpus.name));
  }
  return DocumentUnit::kArticles;
}

void check_given_splits(const Corpus& corpus, const PrepareRequest& request) {
  if (!request.has_given_splits()) return;
  if (!corpus.given_splits) {
    throw UsageError(fmt::format("{} takes no --train, --valid and --test\nname its files with --from", corpus.name));
  }
  if (!request.from.empty()) {
    throw UsageError("--from and --train, --valid, --test both name files\nleave one out");
  }
  if (request.split) {
    throw UsageError("--split divides one text, and --train, --valid and --test name three\nleave one out");
  }
}

VocabularyScope choose_vocabulary_scope(const PrepareRequest& request, const CorpusSettings& settings) {
  if (request.vocabulary == "all") return VocabularyScope::kAll;
  if (request.vocabulary != "train") {
    throw UsageError(fmt::format("--vocabulary {}: use all or train", request.vocabulary));
  }
  if (settings.unit != Vocabulary::Unit::kCharacter) {
    throw UsageError("--vocabulary train needs --unit character");
  }
  return VocabularyScope::kTrain;
}

Vocabulary::Unit unit_named(const std::string& name) {
  return name == "byte"  ? Vocabulary::Unit::kByte
         : name == "bpe" ? Vocabulary::Unit::kBpe
                         : Vocabulary::Unit::kCharacter;
}

constexpr std::size_t kMaxLetters = 40;  // of a name

bool fits_name(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_'; }

void check_name(const std::string& name) {
  if (name.size() <= kMaxLetters && std::ranges::all_of(name, fits_name)) return;
  throw UsageError(fmt::format("--name {}: use at most {} of a-z, 0-9, - and _", name, kMaxLetters));
}

/// Throws UsageError for options that the corpus does not have.
void check_options(const Corpus& corpus, const PrepareRequest& request, Vocabulary::Unit unit) {
  if (!request.glob.empty() && !corpus.folders) {
    throw UsageError(fmt::format("{} is one file: it takes no --glob\nname the file with --from", corpus.name));
  }
  if (request.split_by) {
    if (*request.split_by != "document" && *request.split_by != "position") {
      throw UsageError(fmt::format("--split-by is document or position, not '{}'", *request.split_by));
    }
    if (!corpus.given_splits || request.has_given_splits()) {
      throw UsageError("--split-by says how one text of your own is divided\nleave it out");
    }
  }
  if (corpus.own_splits && request.split.value_or(kUsualSplit) != kUsualSplit) {
    throw UsageError(fmt::format("{} has its own training, validation and test: it takes no --split", corpus.name));
  }
  if (!request.lists.empty() && !corpus.lists) {
    throw UsageError(fmt::format("{} has no official lists of files: it takes no --lists", corpus.name));
  }
  if (unit == Vocabulary::Unit::kBpe && request.bpe.empty()) {
    throw UsageError(fmt::format(
        "{} in BPE needs an encoding\nname a folder with GPT-2's vocab.json and merges.txt, or tokenizer.json, "
        "with --bpe, or fetch them with --download",
        corpus.name));
  }
  if (unit != Vocabulary::Unit::kBpe && !request.bpe.empty()) {
    throw UsageError("--bpe needs --unit bpe\nadd --unit bpe, or leave --bpe out");
  }
}

constexpr const char* kSayTheSplits =
    "name the files of each split: xlm prepare-data text --train FILES --valid FILES --test FILES\n"
    "or divide the whole text: --split 90%,5%,5%";

/// A corpus of one file may be named by its folder, if that has no other file.
void check_folders(const Corpus& corpus, const std::vector<SourceFile>& sources) {
  if (corpus.folders) return;
  const auto in_folder = [](const SourceFile& source) { return !source.named; };
  if (std::ranges::count_if(sources, in_folder) <= 1) return;
  std::vector<std::string> names;
  for (const SourceFile& source : sources) {
    if (names.size() < 5) names.push_back(source.name);
  }
  throw UsageError(fmt::format("{} is one file, but the folder has {}: {}{}\nname the file with --from", corpus.name,
                               sources.size(), join(names, ", "), sources.size() > names.size() ? ", …" : ""));
}

bool is_shard(const std::string& name) {
  return (name.ends_with(".parquet") || name.ends_with(".arrow")) && !name.starts_with("cache-");
}

/// Shards in several folders are several data sets.
void check_one_folder(const std::vector<SourceFile>& shards, const fs::path& root) {
  std::set<std::string> folders;
  for (const SourceFile& shard : shards) folders.insert(shard.path.parent_path().lexically_relative(root).string());
  if (folders.size() <= 1) return;
  throw DataError(fmt::format("{} has several data sets: {}\nname the folder of one", root.string(),
                              join({folders.begin(), folders.end()}, ", ")));
}

/// The Parquet and Arrow shards in the folder of a data set.
std::vector<SourceFile> find_shards(const fs::path& folder, const std::string& glob, const PrepareObserver& observer) {
  if (!fs::is_directory(folder)) {
    throw DataError(fmt::format("{} is not a folder\nname a folder from `save_to_disk`, or a download from the hub",
                                folder.string()));
  }
  std::vector<SourceFile> shards;
  for (SourceFile& source : find_sources({folder}, glob, observer)) {
    if (is_shard(source.path.filename().string())) {
      shards.push_back(std::move(source));
    } else {
      observer.pass_over("files that are no shards", source.name);
    }
  }
  if (!shards.empty()) return shards;
  throw DataError(
      fmt::format("{} has no shards (.parquet or .arrow)\nprepare other files with "
                  "`xlm prepare-data text`",
                  folder.string()));
}

/// "the file names give the splits: 1 of train, 2 of valid (those of validation_matched, validation_mismatched)".
void say_splits(const std::vector<SourceFile>& sources, const PrepareObserver& observer) {
  static const RE2 shard(R"((?:.*/)?([^/]*)-\d{5}-of-\d{5}[^/]*)");
  std::vector<std::string> parts;
  for (std::size_t split = 0; split < kSplitNames.size(); ++split) {
    std::size_t count = 0;
    std::set<std::string> sets;  // several corpora, such as two kinds of validation
    for (const SourceFile& source : sources) {
      if (source.split != split) continue;
      ++count;
      if (std::string set; RE2::FullMatch(source.name, shard, &set)) sets.insert(set);
    }
    if (count == 0) continue;
    parts.push_back(fmt::format("{} of {}", count, kSplitNames.at(split)));
    if (sets.size() > 1) parts.back() += fmt::format(" (those of {})", join({sets.begin(), sets.end()}, ", "));
  }
  observer.say(fmt::format("the file names give the splits: {} (--split divides them as one text)", join(parts, ", ")));
}

std::vector<SourceFile> sources_of_import(const PrepareRequest& request, const PrepareObserver& observer) {
  const fs::path& folder = request.from.front();
  std::vector<SourceFile> shards = find_shards(folder, request.glob, observer);
  const SplitNames names = split_names(shards);
  const bool of_training_alone = names.words[1].empty() && names.words[2].empty() && names.unnamed.empty();
  const bool as_one_text = request.split || names.named() == 0 || of_training_alone;
  if (!as_one_text || (names.named() > 1 && names.unnamed.empty())) {
    shards = split_by_names(std::move(shards), names, kSayTheSplits);
    if (!as_one_text) say_splits(shards, observer);
    for (std::size_t split = 0; split < kSplitNames.size(); ++split) {
      std::vector<SourceFile> of_split;
      std::copy_if(shards.begin(), shards.end(), std::back_inserter(of_split),
                   [&](const SourceFile& shard) { return shard.split == split; });
      check_one_folder(of_split, folder);
    }
  } else {
    check_one_folder(shards, folder);
  }
  for (SourceFile& shard : shards) {  // as if the user had named each
    shard.name = fs::path(shard.name).filename().string();
    if (shard.split) shard.name = fmt::format("{}/{}", kSplitNames.at(*shard.split), shard.name);
    if (as_one_text) shard.split.reset();
  }
  return shards;
}

/// The files of --train, --valid and --test.
std::vector<SourceFile> given_sources(const PrepareRequest& request, const PrepareObserver& observer) {
  std::vector<SourceFile> all;
  for (std::size_t split = 0; split < request.given.size(); ++split) {
    if (request.given.at(split).empty()) continue;
    for (SourceFile& source : find_sources(request.given.at(split), request.glob, observer)) {
      source.name = fmt::format("{}/{}", kSplitNames.at(split), source.name);
      source.split = split;
      all.push_back(std::move(source));
    }
  }
  return all;
}

/// Gives files of text the splits of their names, if these name two or three.
std::vector<SourceFile> as_names_say(std::vector<SourceFile> sources, const PrepareObserver& observer) {
  const SplitNames names = split_names(sources);
  if (names.named() < 2) {
    const bool some = !names.unnamed.empty() && (names.named() == 1 || names.in_folders > 0);
    if (some) observer.say("some names give a split, and some files have none: --split divides all files as one text");
    return sources;
  }
  sources = split_by_names(std::move(sources), names, kSayTheSplits);
  say_splits(sources, observer);
  return sources;
}

}  // namespace

Preparation check_request(PrepareRequest request) {
  const Corpus& corpus = find_corpus(request.dataset);
  CorpusSettings settings;
  settings.cleaning = choose(corpus, "--clean", request.clean, corpus.cleanings);
  settings.unit = unit_named(choose(corpus, "--unit", request.unit, corpus.units));
  check_options(corpus, request, settings.unit);
  check_name(request.name);
  settings.reading = {.glob = request.glob,
                      .max_unpacked = request.max_unpacked,
                      .forms = corpus.forms,
                      .bytes = settings.unit == Vocabulary::Unit::kByte && settings.cleaning == "none",
                      .as_text = request.as_text};
  if (!request.column)
    std::erase(settings.reading.forms, FileForm::kJsonLines);  // without --column their field would be a guess
  check_given_splits(corpus, request);
  settings.lists = request.lists;
  const bool as_in_paper = settings.unit == Vocabulary::Unit::kBpe;  // of bytes, the whole corpus
  settings.books = choose_most(corpus, "--books", request.books, as_in_paper ? kPaperBooks : kAll);
  settings.valid_tokens =
      choose_most(corpus, "--valid-tokens", request.valid_tokens, as_in_paper ? kPaperValidTokens : kAll);
  settings.documents = choose_documents(corpus, request.documents);
  settings.column = request.column.value_or(kUsualColumn);
  settings.only_tables = request.column.has_value();
  settings.skip_bad_rows = request.skip_bad_rows;
  settings.language = choose_language(corpus, request, settings.cleaning);
  settings.points = choose_points(settings.language, request.hebrew_points);
  settings.line_ends = choose_line_ends(corpus, request.line_ends, settings.unit);
  settings.limits = choose_limits(corpus, request.limit);
  settings.strict = request.strict;
  settings.threads = request.threads > 0 ? request.threads : static_cast<int>(available_cores());
  const VocabularyScope scope = choose_vocabulary_scope(request, settings);
  SplitPlan split(request.split.value_or(kUsualSplit));
  if (request.split_by == "document" && (!split.documents(3) || scope == VocabularyScope::kTrain)) {
    throw UsageError(
        "--split-by document needs shares (--split 90%,5%,5%) and the characters of all splits\nleave it out, or "
        "--split in tokens and --vocabulary train");
  }
  if (request.split_by && !request.split) request.split = kUsualSplit;
  settings.whole = request.split.has_value();
  if (request.out.empty()) throw UsageError("--out is empty\nname the folder to make");
  if (!request.bpe.empty()) settings.bpe = std::make_shared<const Bpe>(read_bpe(request.bpe));
  return {std::move(request), &corpus, std::move(settings), scope, split};
}

std::string default_name(const Preparation& preparation) {
  if (!preparation.corpus->given_splits) return "";
  const fs::path out = fs::absolute(preparation.request.out).lexically_normal();
  std::string name = lower_case((out.has_filename() ? out : out.parent_path()).filename().string());
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !fits_name(c); }, '-');
  name.erase(0, name.find_first_not_of('-'));
  return name.substr(0, kMaxLetters);
}

bool lacks_encoding(const PrepareRequest& request) {
  const Corpus& corpus = find_corpus(request.dataset);
  return request.bpe.empty() &&
         unit_named(choose(corpus, "--unit", request.unit, corpus.units)) == Vocabulary::Unit::kBpe;
}

std::vector<SourceFile> request_sources(const Preparation& preparation, const PrepareObserver& observer) {
  const PrepareRequest& request = preparation.request;
  const Corpus& corpus = *preparation.corpus;
  if (request.shards) return sources_of_import(request, observer);
  if (request.has_given_splits()) return given_sources(request, observer);
  std::vector<SourceFile> sources = find_sources(request.from, request.glob, observer);
  check_folders(corpus, sources);
  if (corpus.select != nullptr) sources = corpus.select(sources, preparation.settings, observer);
  return corpus.given_splits && !request.split ? as_names_say(std::move(sources), observer) : sources;
}

}  // namespace xlm
