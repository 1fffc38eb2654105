// pg-19: books, each a document. What is read of it is what Yoshida et al. 2020, §5, read, unless --books and
// --valid-tokens say otherwise: the first 1,250 training books by file name, the first 15,000 tokens of each validation
// book, all of the test set.
#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "datasets/corpora/reading.h"

namespace xlm {
namespace {

/// A part of the corpus, in the order of kSplitNames.
struct BookFolder {
  const char* name;
};
constexpr std::array<BookFolder, 3> kBookFolders{{{"train"}, {"validation"}, {"test"}}};

/// Of training some books are read (--books), of each validation book its beginning (--valid-tokens); all of the rest.
std::size_t most_books(const BookFolder& folder, const CorpusSettings& settings) {
  return &folder == kBookFolders.begin() ? static_cast<std::size_t>(settings.books)
                                         : std::numeric_limits<std::size_t>::max();
}

std::int64_t most_tokens(const BookFolder& folder, const CorpusSettings& settings) {
  return &folder == &kBookFolders[1] ? settings.valid_tokens : std::numeric_limits<std::int64_t>::max();
}

bool is_book_of(const BookFolder& folder, std::string_view name) {
  const std::string begin = fmt::format("{}/", folder.name);
  return name.starts_with(begin) && name.ends_with(".txt") && name.find('/', begin.size()) == std::string_view::npos;
}

using Books = std::map<std::string, const SourceFile*>;  // by name, in byte order

/// The books that an official list names.
std::vector<std::string> listed(const BookFolder& folder, const fs::path& lists) {
  constexpr std::uintmax_t kMostBytes = std::uintmax_t{64} << 20;
  const fs::path file = lists / fmt::format("{}_files.txt", folder.name);
  std::vector<std::string> names;
  std::int64_t number = 0;
  for (const std::string& line : split(read_file(file, kMostBytes), '\n')) {
    ++number;
    const std::string name(trim(line));
    if (name.empty()) continue;
    if (!is_book_of(folder, name)) {
      throw DataError(fmt::format("{}:{}: '{}' is no book of {}/", file.string(), number, name, folder.name));
    }
    names.push_back(name);
  }
  return names;
}

std::vector<std::string> there(const BookFolder& folder, const Books& books) {
  std::vector<std::string> names;
  for (const auto& [name, source] : books) {
    if (is_book_of(folder, name)) names.push_back(name);
  }
  return names;
}

void check_present(const std::vector<std::string>& names, const Books& books, const fs::path& lists) {
  std::vector<std::string> missing;
  for (const std::string& name : names) {
    if (!books.contains(name)) missing.push_back(name);
  }
  if (missing.empty()) return;
  throw DataError(fmt::format(
      "the book {} is missing{}, which the lists in {} name\nadd what is missing to the folder "
      "after --from, or leave --lists out",
      missing.front(), missing.size() == 1 ? "" : fmt::format(", and {} more", missing.size() - 1), lists.string()));
}

/// Line ends of Windows become those of Unix, also where a block ends between their two characters.
class LineEnds {
 public:
  std::string_view clean(std::string_view block) {
    clean_.assign(held_ ? "\r" : "");
    held_ = block.ends_with('\r');
    clean_ += block.substr(0, block.size() - (held_ ? 1 : 0));
    std::size_t out = 0;
    for (std::size_t in = 0; in < clean_.size(); ++in) {
      if (clean_[in] == '\r' && in + 1 < clean_.size() && clean_[in + 1] == '\n') continue;
      clean_[out++] = clean_[in];
    }
    clean_.resize(out);
    return clean_;
  }
  /// What the end of the text leaves.
  std::string_view rest() const { return held_ ? "\r" : ""; }

 private:
  std::string clean_;
  bool held_ = false;  // a carriage return ended the block
};

DataError empty_book(const std::string& label) {
  return DataError(fmt::format("the book {} is empty\nfetch it again", label));
}

std::vector<SourceFile> select_pg19(const std::vector<SourceFile>& found, const CorpusSettings& settings) {
  Books books;
  for (const SourceFile& source : found) books.emplace(source.name, &source);
  std::vector<SourceFile> chosen;
  for (const BookFolder& folder : kBookFolders) {
    std::vector<std::string> names = settings.lists.empty() ? there(folder, books) : listed(folder, settings.lists);
    std::sort(names.begin(), names.end());
    names.resize(std::min(names.size(), most_books(folder, settings)));
    check_present(names, books, settings.lists);
    for (const std::string& name : names) {
      const SourceFile& book = *books.at(name);
      if (book.size == 0) throw empty_book(book.path.string());
      chosen.push_back(book);
    }
  }
  if (!chosen.empty()) return chosen;
  throw DataError("there are no books\nname the folder that holds train/, validation/ and test/ with --from");
}

void read_pg19(const std::vector<SourceFile>& sources, const CorpusSettings& settings, const PrepareObserver& observer,
               CleanText& text) {
  std::size_t split = kBookFolders.size();
  read_sources(sources, settings.reading, observer, [&](const TextFile& file) {
    const auto* const folder = std::find_if(kBookFolders.begin(), kBookFolders.end(), [&](const BookFolder& candidate) {
      return is_book_of(candidate, file.source.name);
    });
    const auto now = static_cast<std::size_t>(folder - kBookFolders.begin());
    if (now != split) text.begin_split(now);
    split = now;
    text.begin_document(most_tokens(*folder, settings));
    LineEnds line_ends;
    bool blank = true;
    for_each_block(file, [&](std::string_view block) {
      blank = blank && trim(block).empty();
      text.write(line_ends.clean(block));
    });
    text.write(line_ends.rest());
    if (blank) throw empty_book(file.label);
  });
}

}  // namespace

Corpus pg19_corpus() {
  return {.name = "pg-19",
          .summary = "books: a folder with train/, validation/ and test/; needs --bpe, takes --lists",
          .language = "en",
          .cleanings = {"none"},
          .units = {"bpe"},
          .folders = true,
          .own_splits = true,
          .lists = true,
          .cut_books = true,
          .select = select_pg19,
          .read = read_pg19};
}

}  // namespace xlm
