// Making a prepared data folder: collect clean text, encode it, describe it, move it into place.
#include "datasets/prepare.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <future>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/utf8.h"
#include "base/version.h"
#include "datasets/corpora/documents.h"
#include "datasets/prepared/clean_text.h"
#include "datasets/prepared/encoding.h"
#include "datasets/prepared/inspection.h"
#include "datasets/prepared/prepared.h"
#include "datasets/prepared/segmentation.h"
#include "datasets/prepared/shared_documents.h"
#include "datasets/prepared/shared_passages.h"
#include "datasets/prepared/split_plan.h"
#include "datasets/prepared/staging_folder.h"
#include "datasets/prepared/verified_files.h"
#include "datasets/tokens/bpe.h"

namespace xlm {
namespace {

/// Keys that meta.json has only if the request sets them.
constexpr std::array<const char*, 7> kSometimes{"books",  "valid_tokens", "documents_are", "rows_are",
                                                "column", "as_text",      "skip_bad_rows"};
constexpr double kShareToSay = 0.01;  // of a split's passages that another split contains, too

/// The value of --line-ends that the request amounts to.
const char* line_ends_of(const Preparation& preparation) {
  return preparation.settings.line_ends == LineEnds::kKeep ? "keep" : "unix";
}

/// Whether each line end counts as a word, as in published numbers of WikiText.
bool line_ends_are_words(const Preparation& preparation) {
  return preparation.corpus->line_ends_are_words || preparation.settings.wikitext_rows;
}

/// Whether each file belongs to a split; otherwise one text is divided.
bool are_of_splits(const std::vector<SourceFile>& sources) { return sources.front().split.has_value(); }

/// The part of meta.json that describes the request: equal parts give equal folders.
Json describe_request(const Preparation& preparation, const std::vector<SourceFile>& sources,
                      const std::vector<std::string>& hashes) {
  const auto& [request, named, settings, scope, split] = preparation;
  const Corpus& corpus = *named;
  Json files = Json::object();
  for (std::size_t i = 0; i < sources.size(); ++i) files[sources[i].name] = hashes[i];
  Json meta{{"dataset", corpus.name},
            {"language", settings.language == nullptr ? corpus.language : settings.language->code},
            {"cleaning", settings.cleaning},
            {"unit", unit_name(settings.unit)},
            {"vocabulary", repaired_utf8(request.vocabulary)},
            {"split", corpus.own_splits        ? "own"
                      : are_of_splits(sources) ? "given"
                                               : split.text()},
            {"glob", repaired_utf8(request.glob)},
            {"keep_text", request.keep_text},
            {"sources", std::move(files)}};
  // Written only if they are not the default.
  if (request.books) meta["books"] = *request.books;
  if (request.valid_tokens) meta["valid_tokens"] = *request.valid_tokens;
  if (settings.documents != DocumentUnit::kFiles) meta["documents_are"] = repaired_utf8(request.documents);
  if (settings.wikitext_rows) meta["rows_are"] = "lines of WikiText";
  if (settings.column != kUsualColumn) meta["column"] = repaired_utf8(settings.column);
  if (request.as_text) meta["as_text"] = true;
  if (request.skip_bad_rows) meta["skip_bad_rows"] = true;
  if (!corpus.limits.empty()) meta["limit"] = fmt::format("{}", fmt::join(settings.limits, ","));
  if (settings.language != nullptr && settings.language->code == "he") {
    meta["hebrew_points"] = settings.points == HebrewPoints::kRemove ? "remove" : "space";
  }
  if (settings.bpe) {
    meta["bpe"] = {{"vocab.json", sha256(vocabulary_json(settings.bpe->vocabulary()))},
                   {"merges.txt", sha256(settings.bpe->merges_text())}};
  }
  return meta;
}

/// Returns whether `out` exists, whole, with the result of the request. Throws UsageError if something else is there
/// that must not be replaced.
bool is_there(const Preparation& preparation, const Json& wanted) {
  const PrepareRequest& request = preparation.request;
  const fs::path& out = request.out;
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(out, ignored))) return false;
  if (!fs::is_directory(out, ignored)) {
    throw UsageError(fmt::format("{} is a file\nname another folder with --out", out.string()));
  }
  if (fs::is_empty(out, ignored)) return false;
  if (!fs::exists(out / "meta.json", ignored)) {
    throw UsageError(fmt::format("{} has other files and is not a prepared data folder\nname another folder with --out",
                                 out.string()));
  }
  Json present;
  try {
    present = open_prepared(out, true).meta;
  } catch (const DataError& error) {
    if (request.force) return false;
    throw DataError(fmt::format("{}\n--force makes {} again", split(error.what(), '\n').front(), out.string()));
  }
  std::vector<std::string> differences;
  for (const auto& [key, value] : wanted.items()) {
    if (present.value(key, Json()) != value) differences.push_back(key);
  }
  for (const char* key : kSometimes) {
    if (present.contains(key) && !wanted.contains(key)) differences.emplace_back(key);
  }
  // Unless asked for, a folder with another name or of before `split_by` and `line_ends` is as good: the same command
  // found it then. Its bytes have the line ends of the files.
  if (request.split_by && present.value("split_by", "position") != *request.split_by)
    differences.emplace_back("split_by");
  if (preparation.corpus->given_splits) {
    const bool asked = request.line_ends.has_value();
    const char* before = asked && preparation.settings.unit == Vocabulary::Unit::kByte ? "keep" : "unix";
    if (present.value("line_ends", before) != line_ends_of(preparation)) differences.emplace_back("line_ends");
  }
  const bool may_have_a_name = request.name.empty() && preparation.corpus->given_splits;
  if (!may_have_a_name && present.value("name", "") != request.name) differences.emplace_back("name");
  if (differences.empty()) {
    const auto replaced = present.value("replaced_characters", std::int64_t{0});
    const bool lacks = present.contains("thrown_away");
    if (!request.strict || (replaced == 0 && !lacks)) return true;
    if (request.force) return false;  // reading the text again reports its defects
    if (replaced == 0) {
      throw DataError(
          fmt::format("{} was prepared from text of which cleaning removed more than a small share\n"
                      "--strict --force reads the text again and reports what",
                      out.string()));
    }
    throw DataError(
        fmt::format("{} was prepared from text with invalid UTF-8, of which {} pieces became U+FFFD\n"
                    "--strict --force reads the text again and reports where",
                    out.string(), replaced));
  }
  if (request.force) return false;
  throw UsageError(
      fmt::format("{} exists already, prepared differently (different: {})\nname another folder with --out, or "
                  "replace it with --force",
                  out.string(), join(differences, ", ")));
}

/// --force replaces only what prepare-data made.
void check_replaceable(const fs::path& out) {
  std::error_code ignored;
  if (!fs::is_directory(out, ignored)) return;
  const std::vector<std::string> ours{"meta.json",     "vocab.json", "train.bin",         "valid.bin",
                                      "test.bin",      "train.txt",  "valid.txt",         "test.txt",
                                      "segmentations", "merges.txt", VerifiedFiles::kFile};
  for (const fs::directory_entry& entry : fs::directory_iterator(out)) {
    const std::string name = entry.path().filename().string();
    if (std::ranges::find(ours, name) == ours.end()) {
      throw UsageError(
          fmt::format("{} also has {}, which prepare-data did not make\nmove it away first", out.string(), name));
    }
  }
}

struct Division {
  std::vector<SplitPart> parts;
  bool sampled = false;  // by document; otherwise by position
};

/// Of a text that names no splits.
Division divided(const CleanText& text, const Preparation& preparation, const PrepareObserver& observer) {
  const auto documents = static_cast<std::int64_t>(text.documents().size());
  const std::optional<std::string>& asked = preparation.request.split_by;
  const bool may_sample = preparation.corpus->given_splits && preparation.scope == VocabularyScope::kAll;
  if (asked == "document" || (!asked && may_sample && preparation.split.suits(documents))) {
    const std::optional<SplitSizes> sizes = preparation.split.documents(documents);
    if (!sizes) {
      throw UsageError(fmt::format("--split-by document: {} are too few for {}\nleave it out to split by position",
                                   counted(documents, "document"), preparation.split.text()));
    }
    const std::vector<SplitPart> parts = sampled_parts(text.documents(), text.tokens(), *sizes);
    SplitSizes tokens{};
    for (const SplitPart& part : parts) tokens.at(part.split) += part.tokens;
    const auto share = [&](std::size_t split) {
      return 100.0 * static_cast<double>(tokens.at(split)) / static_cast<double>(text.tokens());
    };
    observer.say(fmt::format(
        "of {} documents {} are validation and {} are test, a fixed sample: {:.1f} % and {:.1f} % of the tokens "
        "(--split-by position takes the end of the text)",
        documents, (*sizes)[1], (*sizes)[2], share(1), share(2)));
    return {.parts = parts, .sampled = true};
  }
  if (!asked && preparation.corpus->given_splits && documents > 1) {
    const std::string why = !may_sample ? "with --vocabulary train"
                            : !preparation.split.documents(documents)
                                ? "with so few documents, or --split in tokens"
                                : fmt::format("as {} are few for {} (--split-by document samples them)",
                                              counted(documents, "document"), preparation.split.text());
    observer.say("validation and test are the end of the text, " + why);
  }
  return {.parts = split_parts(preparation.split.sizes(text.tokens()))};
}

Json describe_result(Json meta, const Preparation& preparation, const CleanText& text, const EncodedText& encoded) {
  Json sizes = Json::object();
  Json words = Json::object();
  Json bytes = Json::object();
  Json documents = Json::object();
  Json document_words = Json::object();
  Json document_bytes = Json::object();
  const bool pairs = encoded.vocabulary.unit == Vocabulary::Unit::kBpe;
  for (const char* name : kSplitNames) {
    const auto split = encoded.splits.find(name);
    if (split == encoded.splits.end()) continue;
    sizes[name] = split->second.tokens;
    words[name] = split->second.words;
    bytes[name] = split->second.bytes;
    documents[name] = split->second.documents;
    if (!pairs) continue;
    document_words[name] = split->second.document_words;
    document_bytes[name] = split->second.document_bytes;
  }
  meta["sizes"] = std::move(sizes);
  meta["words"] = std::move(words);
  meta["word_rule"] = line_ends_are_words(preparation) ? "whitespace and line ends" : "whitespace";
  meta["bytes"] = std::move(bytes);
  meta["replaced_characters"] = text.replaced();
  if (text.thrown_away().is_much()) meta["thrown_away"] = text.thrown_away().share();
  if (meta["vocabulary"] == "train") {
    Json unknown = Json::object();
    for (const auto& [name, split] : encoded.splits) unknown[name] = split.unknown;
    meta["unknown_characters"] = std::move(unknown);
  }
  meta["outputs"] = encoded.outputs;
  meta["xlm"] = kVersion;
  meta["documents"] = std::move(documents);  // last: they can be long
  if (pairs) {                               // what losses of a document are divided by
    meta["document_words"] = std::move(document_words);
    meta["document_bytes"] = std::move(document_bytes);
  }
  return meta;
}

void note_splits(const std::vector<SplitPart>& parts, std::int64_t tokens, const PrepareObserver& observer) {
  std::int64_t used = 0;
  SplitSizes sizes{};
  for (const SplitPart& part : parts) {
    sizes.at(part.split) += part.tokens;
    used += part.tokens;
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes.at(i) == 0) observer.say(fmt::format("no {}.bin: there is no text for it", kSplitNames.at(i)));
  }
  if (used < tokens) observer.say(fmt::format("the last {} tokens are in no split", tokens - used));
}

void note_unknown(const EncodedText& encoded, const PrepareObserver& observer) {
  for (const auto& [name, split] : encoded.splits) {
    if (split.unknown == 0) continue;
    observer.say(fmt::format("{} characters of {} do not occur in training: they became U+FFFD", split.unknown, name));
  }
}

/// Reports if much of validation or test occurs in another split: the same text may have been read twice.
void note_shared_text(const fs::path& folder, const EncodedText& encoded, int threads,
                      const PrepareObserver& observer) {
  PreparedData data;
  data.vocabulary = encoded.vocabulary;
  for (const auto& [name, split] : encoded.splits) {
    const fs::path file = folder / fmt::format("{}.bin", name);
    data.splits.emplace(name, Split{.tokens = TokenFile(file, data.vocabulary.id_bytes(), data.vocabulary.size()),
                                    .documents = split.documents});
  }
  observer.at("comparing the splits", 0, 0);
  const bool has_pairs = data.vocabulary.unit == Vocabulary::Unit::kBpe;
  const auto say = [&](const std::string& text, const std::string& split, std::int64_t begin) {
    const Split& of = data.split(split);
    const std::int64_t shown = has_pairs ? 15 : 60;
    std::string example = decode(data.vocabulary, of, begin, std::min(begin + shown, of.tokens.size()));
    std::replace_if(
        example.begin(), example.end(), [](unsigned char c) { return c < 0x20; }, ' ');
    observer.say(fmt::format("{}: is the same text there twice?\n  such as: {}", text, printable(example)));
  };
  const std::vector<SharedPassages> passages = shared_passages(data, kMaxPassages, threads);
  for (const SharedPassages& found : passages) {
    if (found.share() >= kShareToSay)
      say(shared_passages_text(found, data.vocabulary.unit), found.split, found.example);
  }
  if (passages.empty()) return;
  for (const SharedDocuments& found : shared_documents(data, passages.front().length)) {
    if (found.share() >= kShareToSay) say(shared_documents_text(found), found.split, found.example);
  }
}

/// Reports what cleaning removed, if it is more than punctuation and some names. Throws DataError if the request is
/// strict.
void note_thrown_away(const ThrownAway& thrown_away, bool strict, const PrepareObserver& observer) {
  if (!thrown_away.is_much()) return;
  const std::string what =
      fmt::format("cleaning {} {:.{}f} % of the letters and digits: the alphabet lacks them\n  such as: {}",
                  strict ? "would remove" : "removed", 100.0 * thrown_away.share(), thrown_away.share() < 0.1 ? 1 : 0,
                  join(thrown_away.examples, " | "));
  if (strict) throw DataError(what + "\nleave --strict out to continue without them, or clean for another language");
  observer.say(what);
}

/// Fills `folder`; meta.json comes last.
std::int64_t fill(const fs::path& folder, const Preparation& preparation, const std::vector<SourceFile>& sources,
                  const std::function<Json()>& describe, const PrepareObserver& observer) {
  const auto& [request, named, settings, scope, split] = preparation;
  const Corpus& corpus = *named;
  CleanText text(folder / "clean", settings.unit, settings.bpe, settings.threads);
  corpus.read(sources, settings, observer, text);
  text.finish();
  note_thrown_away(text.thrown_away(), request.strict, observer);
  if (text.tokens() == 0) {
    throw DataError(
        fmt::format("the corpus is empty: no text of {} is left after cleaning", sources.front().path.string()));
  }
  const bool knows_splits = corpus.own_splits || are_of_splits(sources);
  const auto [parts, sampled] = knows_splits ? Division{.parts = text.parts()} : divided(text, preparation, observer);
  note_splits(parts, text.tokens(), observer);
  if (!text.special_in_text().empty()) {
    observer.say(
        fmt::format("'{0}' stands in the text, and becomes ordinary tokens, not the token {0}: if it ends documents, "
                    "give each a file or a row",
                    text.special_in_text()));
  }
  if (text.replaced() > 0) {
    const std::string& example = text.replaced_example();
    observer.say(fmt::format(
        "{} of invalid UTF-8 became U+FFFD; --strict refuses them{}{}", counted(text.replaced(), "piece"),
        corpus.units.size() > 1 ? ", --unit byte keeps them" : "", example.empty() ? "" : "\n  such as: " + example));
  }
  if (scope == VocabularyScope::kTrain && (parts.front().split != 0 || parts.front().tokens == 0)) {
    throw UsageError("--vocabulary train needs a training split, but it has no text");
  }
  EncodedText encoded = encode(text, parts,
                               {.scope = scope,
                                .keep_text = request.keep_text,
                                .line_ends_are_words = line_ends_are_words(preparation),
                                .threads = settings.threads},
                               folder, observer);
  // The files reach the disk while the splits are compared.
  std::future<void> kept = std::async(settings.threads > 1 ? std::launch::async : std::launch::deferred, [&] {
    for (const auto& [name, hash] : encoded.outputs) sync_file(folder / name);
    fs::remove(text.file());
  });
  note_unknown(encoded, observer);
  note_shared_text(folder, encoded, settings.threads, observer);
  kept.get();
  const auto write = [&](const char* name, const std::string& content) {
    write_file(folder / name, content);
    encoded.outputs[name] = sha256(content);
  };
  write("vocab.json", vocabulary_json(encoded.vocabulary));
  if (settings.bpe) write("merges.txt", settings.bpe->merges_text());
  VerifiedFiles(folder).note(encoded.outputs);
  Json meta = describe();
  if (sampled) meta["split_by"] = "document";
  if (corpus.given_splits) meta["line_ends"] = line_ends_of(preparation);
  if (const std::string name = request.name.empty() ? default_name(preparation) : request.name; !name.empty()) {
    meta["name"] = name;
  }
  write_file(folder / "meta.json", prepared_meta_text(describe_result(std::move(meta), preparation, text, encoded)));
  return text.replaced();
}

/// Checks whether rows of tables are lines of WikiText, as --documents articles requires.
void look_at_rows(Preparation& preparation, const std::vector<SourceFile>& sources, const PrepareObserver& observer) {
  CorpusSettings& settings = preparation.settings;
  if (!preparation.corpus->tables || settings.documents == DocumentUnit::kRows) return;
  settings.wikitext_rows = rows_are_wikitext(sources, settings);
  if (settings.wikitext_rows) {
    observer.say(
        fmt::format("the rows are lines of WikiText: {} made of them are documents (for rows: --documents rows)",
                    settings.documents == DocumentUnit::kArticles ? "articles" : "files"));
  } else if (settings.documents == DocumentUnit::kArticles) {
    throw DataError(
        fmt::format("{} is no table whose rows are lines of WikiText, and other text has no articles\n"
                    "leave --documents out; for WikiText's own files: xlm prepare-data wikitext-103",
                    sources.front().path.string()));
  }
}

/// The hashes of the sources. They are found `aside`, on another thread, while the text is read; or when asked for, if
/// reading did not note them.
class SourceHashes {
 public:
  SourceHashes(const std::vector<SourceFile>& sources, bool aside, const PrepareObserver& observer)
      : aside_(aside), observer_(&observer) {
    const auto stop_if_asked = [this](const std::string&, std::uint64_t, std::uint64_t) {
      if (stopped_) throw Error("stopped");
    };
    hashes_ = std::async(aside ? std::launch::async : std::launch::deferred, [=, this, &sources] {
      return hash_sources(sources, aside ? PrepareObserver{.progress = stop_if_asked} : *observer_, known_);
    });
  }
  SourceHashes(const SourceHashes&) = delete;
  SourceHashes& operator=(const SourceHashes&) = delete;
  ~SourceHashes() { stopped_ = true; }

  bool are_aside() const { return aside_; }
  void note(const SourceFile& source, std::string sha256) { known_[source.name] = std::move(sha256); }
  const std::vector<std::string>& get() {
    if (aside_) observer_->at("checking", 0, 0);
    return hashes_.get();
  }

 private:
  bool aside_;
  const PrepareObserver* observer_;
  std::atomic<bool> stopped_ = false;
  std::map<std::string, std::string> known_;             // by the names of sources
  std::shared_future<std::vector<std::string>> hashes_;  // last: it is waited for before what it uses goes
};

/// Makes the token files, without the segmentations.
PrepareResult prepare_tokens(Preparation preparation, const PrepareObserver& observer) {
  const PrepareRequest& request = preparation.request;
  const std::vector<SourceFile> sources = request_sources(preparation, observer);
  look_at_rows(preparation, sources, observer);
  const auto exists = [&] {
    std::error_code ignored;
    return fs::exists(fs::symlink_status(request.out, ignored));
  };
  SourceHashes hashes(sources, preparation.settings.threads > 1 && !exists(), observer);
  const auto describe = [&] { return describe_request(preparation, sources, hashes.get()); };
  const auto is_made = [&] { return exists() && is_there(preparation, describe()); };
  if (!hashes.are_aside()) {
    preparation.settings.reading.hashed = [&](const SourceFile& source, std::string sha256) {
      hashes.note(source, std::move(sha256));
    };
  }

  // Checked before locking, so that a folder on a read-only disk can be "made" again, and after it, because another
  // process may just have finished.
  if (is_made()) {
    StagingFolder::remove_left(request.out);
    return {.was_there = true};
  }
  StagingFolder staging(request.out);
  if (is_made()) return {.was_there = true};
  check_replaceable(request.out);
  const std::int64_t replaced = fill(staging.path(), preparation, sources, describe, observer);
  staging.commit();
  return {.was_there = false, .replaced = replaced};
}

}  // namespace

PrepareResult prepare(const Preparation& preparation, const PrepareObserver& observer) {
  const PrepareRequest& request = preparation.request;
  PassedOver passed_over;
  PrepareObserver with_count = observer;
  with_count.passed_over = [&](const std::string& kind, const std::string& name, std::int64_t count) {
    passed_over.add(kind, name, count);
  };
  const PrepareResult result = prepare_tokens(preparation, with_count);
  if (const std::string text = passed_over.text(); !text.empty()) observer.say("passed over: " + text);
  if (request.train_unigram.empty() && request.unigram.empty()) return result;
  const PreparedData data = open_prepared(request.out);
  const int threads = preparation.settings.threads;
  try {
    for (const std::int64_t pieces : request.train_unigram) train_segmentation(data, pieces, observer, threads);
    for (const fs::path& model : request.unigram) add_segmentation(data, model, observer, threads);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}\n{} itself is ready", error.what(), request.out.string()));
  }
  return result;
}

}  // namespace xlm
