// The corpora that prepare-data knows: one list, corpora.def, for help, checks and suggestions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/cleaning/character_rules.h"
#include "datasets/input/sources.h"
#include "datasets/prepared/clean_text.h"

namespace xlm {

class Bpe;

/// The value of --documents. kFiles: each file is a document, and so is each row of a table, unless its rows are the
/// lines of files.
enum class DocumentUnit { kFiles, kArticles, kRows };

/// The value of --line-ends. kUnix: the line ends of every system (CR LF, CR) are read as Unix's.
enum class LineEnds { kUnix, kKeep };

/// The settings of reading a corpus, with every default filled in.
struct CorpusSettings {
  std::string cleaning;  // "none" or "text8"
  Vocabulary::Unit unit = Vocabulary::Unit::kCharacter;
  ReadSettings reading;
  std::shared_ptr<const Bpe> bpe;  // if the unit is BPE
  fs::path lists;                  // a folder with the corpus's lists of files; empty: all files
  std::int64_t books = 0;          // of corpora with books: the most training books
  std::int64_t valid_tokens = 0;   // the same: the most tokens of a validation book
  DocumentUnit documents = DocumentUnit::kFiles;
  bool wikitext_rows = false;          // rows of tables are lines of WikiText, and files are made of them
  bool whole = false;                  // --split divides the text, whatever names say of splits
  std::string column;                  // of tables and JSON lines: the column or field with the text
  bool only_tables = false;            // a column was named, which other text does not have
  bool skip_bad_rows = false;          // rows that cannot be read are left out and counted
  const Language* language = nullptr;  // of the cleaner; null: none
  HebrewPoints points = HebrewPoints::kRemove;
  LineEnds line_ends = LineEnds::kUnix;
  SplitSizes limits{};  // of corpora that have limits: raw characters of each split
  bool strict = false;  // invalid UTF-8 is an error
  int threads = 1;
};

/// Chooses which of the files found are read, and their order. Throws DataError if a required file is missing.
using SelectSources = std::vector<SourceFile> (*)(const std::vector<SourceFile>& found, const CorpusSettings& settings,
                                                  const PrepareObserver& observer);

/// Reads `sources` and writes clean documents to `text`. Throws DataError for what does not belong to the corpus.
using ReadCorpus = void (*)(const std::vector<SourceFile>& sources, const CorpusSettings& settings,
                            const PrepareObserver& observer, CleanText& text);

struct Corpus {
  std::string_view name;
  std::string_view summary;                 // for help: what it is, and the value of --from
  std::string_view language;                // "" if it is unknown
  std::vector<std::string_view> cleanings;  // values of --clean; the first is the default
  std::vector<std::string_view> units;      // values of --unit; the first is the default
  std::vector<FileForm> forms{};            // forms that are read besides text
  bool folders = false;                     // --from takes folders of many files, and --glob is allowed
  bool own_splits = false;                  // has its own training, validation and test: no --split
  bool lists = false;                       // takes --lists
  bool cut_books = false;                   // takes --books and --valid-tokens
  bool has_articles = false;                // takes --documents articles
  bool tables = false;                      // takes tables, and --documents rows
  bool given_splits = false;                // takes --train, --valid and --test
  bool line_ends_are_words = false;         // as published numbers of this corpus count words
  bool needs_language = false;              // --lang must be given
  std::string_view limits;                  // the default of --limit; "": --limit is not allowed
  SelectSources select = nullptr;           // null: all
  ReadCorpus read = nullptr;
};

const std::vector<Corpus>& corpora();

/// Throws UsageError with the nearest right name.
const Corpus& find_corpus(const std::string& name);

}  // namespace xlm
