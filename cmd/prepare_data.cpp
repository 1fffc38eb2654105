// xlm prepare-data: raw corpus → prepared data folder.
#include <array>
#include <cstdio>
#include <memory>

#include <fmt/format.h>

#include "base/error.h"
#include "base/progress.h"
#include "base/stop.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cmd/prepare_data.h"
#include "datasets/corpora/addresses.h"
#include "datasets/corpora/registry.h"
#include "datasets/prepared/prepared.h"
#include "datasets/prepared/segmentation.h"
#include "datasets/prepared/split_plan.h"

namespace xlm {
namespace {

std::string help_text() {
  std::string text = "Datasets:\n";
  for (const Corpus& corpus : corpora()) text += fmt::format("  {:<12} {}\n", corpus.name, corpus.summary);
  text +=
      "\nFiles may be plain, gzip, bzip2, xz, Zstandard, zip or tar. Nothing is unpacked to disk.\n"
      "\nExamples:\n"
      "  xlm prepare-data text8 --from text8.zip --out data/text8\n"
      "  xlm prepare-data enwik8 --from enwik8.zip --out data/enwik8\n"
      "  xlm prepare-data wiki40b --lang fi --from wiki40b/ --out data/wiki40b-fi\n"
      "  xlm prepare-data text --from notes/ --glob '*.txt' --clean text8 --out data/notes\n"
      "  xlm prepare-data text --from book.txt --split 400000,20000,20000 --out data/book\n"
      "  xlm prepare-data text --train a.txt b.txt --valid c.txt --test d.txt --out data/mine\n"
      "  xlm prepare-data text8 --from text8.zip --out data/text8 --train-unigram 5000\n"
      "  xlm prepare-data wikitext-103 --from wikitext-103-raw/ --bpe gpt2/ --out data/wikitext-103\n"
      "  xlm prepare-data pg-19 --from pg19/ --lists pg19/ --bpe gpt2/ --out data/pg-19\n";
  return text;
}

/// One progress bar for each stage of the work.
class StageProgress {
 public:
  explicit StageProgress(const GlobalOptions& global) : global_(&global) {}

  void update(const std::string& stage, std::uint64_t done, std::uint64_t total) {
    if (stop_requested()) {
      throw Error("stopped by a signal: no data folder was made\nrun the same command again", kStopped);
    }
    if (stage != stage_) {
      bar_.reset();
      stage_ = stage;
      if (total == 0) return;  // the total is not known
      bar_ = std::make_unique<Progress>(
          Progress::Settings{
              .label = stage, .total = static_cast<double>(total), .bytes = true, .quiet = global_->quiet},
          stderr, global_->standard_error);
    }
    if (bar_) bar_->update(static_cast<double>(done));
  }

  void note(const std::string& message) {
    if (global_->quiet) return;
    if (bar_) {
      bar_->note("note: " + message);
    } else {
      say(fmt::format("note: {}\n", message));
    }
  }

 private:
  const GlobalOptions* global_;
  std::string stage_;
  std::unique_ptr<Progress> bar_;
};

Json result_json(const PreparedData& data, const PrepareResult& result) {
  return {{"path", data.path.string()},
          {"dataset", data.dataset},
          {"unit", unit_name(data.vocabulary.unit)},
          {"symbols", data.vocabulary.size()},
          {"splits", splits_json(data)},
          {"replaced_characters", data.meta.value("replaced_characters", 0)},
          {"fingerprint", data.fingerprint},
          {"segmentations", segmentation_names(data.path)},
          {"was_there", result.was_there}};
}

/// `before`: the segmentations that the folder had before.
std::string result_text(const PreparedData& data, const PrepareResult& result, const std::vector<std::string>& before,
                        const Terminal& terminal) {
  const std::vector<std::string> segmentations = segmentation_names(data.path);
  std::string head = fmt::format("{} is ready", data.path.string());
  if (result.was_there) {
    head = fmt::format("{} exists already, made from the same files with the same options{}", data.path.string(),
                       segmentations == before ? "" : "; segmentations were added");
  }
  return fmt::format("{}: {}, {}\n\n{}{}", head, data.dataset, symbols_text(data.vocabulary),
                     splits_table(data, terminal.is_terminal ? terminal.width : 0),
                     segmentations.empty() ? "" : "\nsegmentations: " + join(segmentations, ", ") + "\n");
}

constexpr std::array<const char*, 3> kSplitWords{"training,", "validation,", "test,"};

struct PrepareDataOptions {
  PrepareRequest request;
  bool download = false;
  std::string mirror;
};

fs::path raw_folder(const std::string& name) { return fs::path("raw") / name; }

/// Fetches the raw files to the folder --from, and sets `from` to what was fetched.
void download(PrepareRequest& request, const PrepareDataOptions& options, const PrepareObserver& observer) {
  if (request.from.size() > 1) throw UsageError("--download takes one --from: the folder to fetch to");
  const fs::path folder = request.from.empty() ? raw_folder(request.dataset) : request.from.front();
  if (fs::exists(folder) && !fs::is_directory(folder)) {
    throw UsageError(
        fmt::format("--from {} is a file; with --download it names the folder to fetch to", folder.string()));
  }
  request.from =
      fetch_raw_files(request.dataset, request.language.value_or(""), folder, options.mirror, Downloader(), observer);
}

/// Checks the request and fetches what it lacks: a small encoding before the check, which reads it, and the large raw
/// files after it.
Preparation complete(const PrepareDataOptions& options, const PrepareObserver& observer) {
  PrepareRequest request = options.request;
  const bool fetch_encoding = options.download && lacks_encoding(request);
  if (fetch_encoding) {
    request.bpe =
        fetch_raw_files(kGpt2Encoding, "", raw_folder(kGpt2Encoding), options.mirror, Downloader(), observer).front();
  }
  Preparation preparation = check_request(std::move(request));
  const bool nothing_else = fetch_encoding && !options.request.from.empty() && !has_address(options.request.dataset);
  if (options.download && !nothing_else) download(preparation.request, options, observer);
  return preparation;
}

int prepare_data(const GlobalOptions& global, const PrepareDataOptions& options) {
  const PrepareRequest& request = options.request;
  if (request.from.empty() && !request.has_given_splits() && !options.download) {
    throw UsageError(has_address(request.dataset)
                         ? "--from is required\nname the files as distributed, or fetch them with --download"
                         : "--from is required\nname files, archives or folders, or one for each split with --train, "
                           "--valid and --test");
  }
  if (!options.mirror.empty() && !options.download) throw UsageError("--mirror needs --download");
  fs::path fetched;  // set if it is one file
  try {
    return prepare_and_report(global, request.out, [&](const PrepareObserver& observer) {
      Preparation preparation = complete(options, observer);
      const std::vector<fs::path>& from = preparation.request.from;
      if (options.download && from.size() == 1 && fs::is_regular_file(from.front())) fetched = from.front();
      return preparation;
    });
  } catch (const DataError& error) {
    std::string message = error.what();
    if (fetched.empty() || !message.ends_with("fetch the file again")) throw;
    throw DataError(message + fmt::format(": rm {}, then run the same command again", shell_word(fetched.string())));
  }
}

}  // namespace

std::string symbols_text(const Vocabulary& vocabulary) {
  return fmt::format("{} symbols ({})", vocabulary.size(), units_name(vocabulary.unit));
}

std::string splits_table(const PreparedData& data, int width) {
  TextTable table({{"split"}, {"tokens", true}, {"words", true}, {"bytes", true}, {"documents", true}});
  for (const char* name : kSplitNames) {
    const auto found = data.splits.find(name);
    if (found == data.splits.end()) continue;
    const Split& split = found->second;
    table.add({name, fmt::format("{}", split.tokens.size()), fmt::format("{}", split.words),
               fmt::format("{}", split.bytes), fmt::format("{}", split.documents.size())});
  }
  return table.render(TextTable::Format::kText, width);
}

Json splits_json(const PreparedData& data) {
  Json json = Json::object();
  for (const auto& [name, split] : data.splits) {
    json[name] = {{"tokens", split.tokens.size()},
                  {"words", split.words},
                  {"bytes", split.bytes},
                  {"documents", split.documents.size()}};
  }
  return json;
}

int prepare_and_report(const GlobalOptions& global, const fs::path& out, const MakePreparation& make_preparation) {
  install_stop_handlers();
  const std::vector<std::string> before =
      fs::exists(out / "meta.json") ? segmentation_names(out) : std::vector<std::string>();
  PrepareResult result;
  {
    StageProgress progress(global);
    const PrepareObserver observer{.progress = [&](const std::string& stage, std::uint64_t done,
                                                   std::uint64_t total) { progress.update(stage, done, total); },
                                   .note = [&](const std::string& message) { progress.note(message); }};
    result = prepare(make_preparation(observer), observer);
  }
  const PreparedData data = open_prepared(out);
  print(global.json ? json_text(result_json(data, result)) : result_text(data, result, before, global.standard_output));
  return kDone;
}

void add_text_options(CLI::App& app, PrepareRequest& request) {
  CLI::Validator size = CLI::AsSizeValue(true);  // powers of 1000
  CLI::Validator positive = CLI::PositiveNumber;
  size.description("");  // the help explains the format
  positive.description("");
  app.add_option("--out", request.out, "Folder to make")->required()->type_name("DIR");
  app.add_option(
         "--column", request.column,
         "Column of Parquet, Arrow, CSV or TSV tables, or field of JSON lines, that holds the text (default: text)")
      ->type_name("NAME");
  app.add_flag("--skip-bad-rows", request.skip_bad_rows,
               "Leave out rows of JSON lines, CSV and TSV that cannot be read");
  app.add_option("--clean", request.clean, "none, or text8: a-z and single spaces, digits spelt out")
      ->type_name("none|text8");
  app.add_option("--unit", request.unit, "What a token is")->type_name("character|byte|bpe");
  app.add_option("--line-ends", request.line_ends,
                 "Own text: CR LF and CR as Unix's line ends, or as they are (default: unix)")
      ->type_name("unix|keep");
  app.add_option("--bpe", request.bpe,
                 "Folder with GPT-2's vocab.json and merges.txt, or tokenizer.json, for --unit bpe")
      ->type_name("DIR");
  app.add_option("--lang", request.language, "The language of wiki40b, cc-100, or text that is cleaned")
      ->type_name("en|fi|he|vi");
  app.add_option("--vocabulary", request.vocabulary,
                 "Characters of all splits, or of training alone (others become U+FFFD)")
      ->capture_default_str()
      ->type_name("all|train");
  app.add_flag("--strict", request.strict,
               "Fail on invalid UTF-8, and if cleaning removes more than a small share of the text");
  app.add_option("--threads", request.threads,
                 "Threads for cleaning (default: one for each core); does not change the result")
      ->check(CLI::Range(1, 1024).description(""))
      ->type_name("N");
  app.add_option("--name", request.name,
                 "Name of the data in run ids, tables and data.name (default: DATASET; of own text the folder's)")
      ->type_name("NAME");
  app.add_option("--split-by", request.split_by,
                 "document: a fixed sample of the documents; position: the end of the text (default: document where "
                 "there are enough)")
      ->type_name("document|position");
  app.add_option("--split", request.split,
                 "Sizes of training, validation and test, in tokens or shares; without it the names of files "
                 "and folders may give the split")
      ->default_str(kUsualSplit)
      ->type_name("A,B,C");
  app.add_option("--documents", request.documents,
                 "What a document is: a file, or an article (WikiText); rows: each row, even of WikiText's tables")
      ->capture_default_str()
      ->type_name("files|articles|rows");
  app.add_option("--glob", request.glob, "Only files of folders and archives that match; * also matches /")
      ->type_name("PATTERN");
  app.add_flag("--keep-text", request.keep_text, "Also write train.txt, valid.txt and test.txt");
  app.add_flag("--force", request.force, "Replace a folder prepared from other files or with other options");
  app.add_option("--max-unpacked", request.max_unpacked,
                 "Bytes that an archive may unpack to, such as 5GB (default: 1000 times its size, 1 GB to 1 TB)")
      ->transform(size)
      ->check(positive)
      ->type_name("BYTES");
}

std::function<int()> declare_prepare_data(CLI::App& app, const GlobalOptions& global) {
  auto options = std::make_shared<PrepareDataOptions>();
  PrepareRequest* const request = &options->request;
  app.footer(help_text());
  app.add_option("DATASET", request->dataset, "The corpus (see below)")->required()->type_name("");
  app.add_option("--from", request->from, "The files as distributed, or a folder of them")->type_name("PATH");
  app.add_flag("--download", options->download,
               "Fetch the files first, to the folder --from (default: raw/DATASET), and GPT-2's encoding to raw/gpt2 "
               "if --bpe is not given");
  app.add_option("--mirror", options->mirror, "Fetch from URL instead of the original https://HOST")->type_name("URL");
  constexpr std::array<const char*, 3> kGiven{"--train", "--valid", "--test"};
  for (std::size_t i = 0; i < kGiven.size(); ++i) {
    app.add_option(kGiven.at(i), request->given.at(i),
                   fmt::format("text: files or folders of {} instead of --from", kSplitWords.at(i)))
        ->type_name("PATH");
  }
  add_text_options(app, *request);
  app.add_flag("--as-text", request->as_text, "Read JSON, web pages and the like as plain text");
  app.add_option("--books", request->books,
                 "pg-19: training books to read, or all (default: the paper's 1250; all with --unit byte)")
      ->type_name("N");
  app.add_option(
         "--valid-tokens", request->valid_tokens,
         "pg-19: tokens of each validation book to read, or all (default: the paper's 15000; all with --unit byte)")
      ->type_name("N");
  app.add_option("--lists", request->lists, "pg-19: folder with the official {train,validation,test}_files.txt")
      ->type_name("DIR");
  app.add_option(
         "--limit", request->limit,
         "wiki40b, cc-100: raw characters of each split (default: 400 million, 2 million, and for test 10 or 2)")
      ->type_name("A,B,C");
  app.add_option("--hebrew-points", request->hebrew_points,
                 "Remove Hebrew points, or replace each run of them by a space, as the published script does")
      ->type_name("remove|space");
  app.add_option("--train-unigram", request->train_unigram,
                 "Train unigram tokenizers with so many pieces, and segment the text with them (200,5000)")
      ->allow_extra_args(false)
      ->delimiter(',')
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 30).description(""))
      ->type_name("N,…");
  app.add_option("--unigram", request->unigram, "Segment the text with a SentencePiece model")
      ->allow_extra_args(false)
      ->type_name("FILE");
  return [options, &global] { return prepare_data(global, *options); };
}

}  // namespace xlm
