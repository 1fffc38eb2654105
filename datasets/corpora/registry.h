// The corpora that prepare-data knows: one explicit list, corpora.def; help, checks and "did you mean" come from it.
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

/// What --documents says. Files: each file is a document, and so is each row of a table, unless its rows are the lines
/// of files.
enum class DocumentsAre { kFiles, kArticles, kRows };

/// What a corpus is asked for, with every default filled in.
struct CorpusSettings {
  std::string cleaning;  // "none" or "text8"
  Vocabulary::Unit unit = Vocabulary::Unit::kCharacter;
  ReadSettings reading;
  std::shared_ptr<const Bpe> bpe;  // where the unit is BPE
  fs::path lists;                  // a folder with the corpus's lists of files; empty: all that are there
  std::int64_t books = 0;          // of corpora that are cut to some: most training books
  std::int64_t valid_tokens = 0;   // likewise: most tokens of each validation book
  DocumentsAre documents = DocumentsAre::kFiles;
  bool wikitext_rows = false;          // rows of tables are lines of WikiText, of which the files are made again
  bool whole = false;                  // --split divides the text, whatever names say of splits
  std::string column;                  // of tables and of JSON lines: what holds the text
  const Language* language = nullptr;  // of the cleaner; null: none was asked for
  HebrewPoints points = HebrewPoints::kRemove;
  SplitSizes limits{};  // of corpora that have limits: raw characters of each split
  bool strict = false;  // invalid UTF-8 is an error
  int threads = 1;
};

/// Which of the files found are read, in what order. Throws DataError when one that belongs there is missing.
using SelectSources = std::vector<SourceFile> (*)(const std::vector<SourceFile>& found, const CorpusSettings& settings,
                                                  const PrepareObserver& observer);

/// Reads `sources` and writes clean documents to `text`. Throws DataError for what does not belong to the corpus.
using ReadCorpus = void (*)(const std::vector<SourceFile>& sources, const CorpusSettings& settings,
                            const PrepareObserver& observer, CleanText& text);

struct Corpus {
  std::string_view name;
  std::string_view summary;                 // for help: what it is, and what --from takes
  std::string_view language;                // "" where it is not known
  std::vector<std::string_view> cleanings;  // what --clean may say; the first is the default
  std::vector<std::string_view> units;      // what --unit may say; the first is the default
  std::vector<FileForm> forms{};            // what is read beside text
  bool folders = false;                     // --from takes folders of many files, and --glob
  bool own_splits = false;                  // says itself what is training, validation and test: no --split
  bool lists = false;                       // takes --lists
  bool cut_books = false;                   // takes --books and --valid-tokens
  bool has_articles = false;                // takes --documents articles
  bool tables = false;                      // takes tables, and --documents rows
  bool given_splits = false;                // takes --train, --valid and --test
  bool line_ends_are_words = false;         // as published numbers of this corpus count them
  bool needs_language = false;              // --lang must be given
  std::string_view limits;                  // the default of --limit; "": it takes none
  SelectSources select = nullptr;           // null: all
  ReadCorpus read = nullptr;
};

const std::vector<Corpus>& corpora();

/// Throws UsageError with the nearest right name.
const Corpus& find_corpus(const std::string& name);

}  // namespace xlm
