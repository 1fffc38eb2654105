// pg-19: books, each a document. By default it reads what Yoshida et al. 2020, §5, read: the first 1,250 training books
// by file name, the first 15,000 tokens of each validation book, and the whole test set. As bytes it reads all of the
// corpus. --books and --valid-tokens change both.
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "datasets/corpora/reading.h"
#include "datasets/corpora/split_names.h"

namespace xlm {
namespace {

/// The parts of the corpus as the official lists call them, in the order of kSplitNames.
constexpr std::array<const char*, 3> kBookFolders{"train", "validation", "test"};

/// The most books of a split: --books limits the training books.
std::size_t most_books(std::size_t split, const CorpusSettings& settings) {
  return split == 0 ? static_cast<std::size_t>(settings.books) : std::numeric_limits<std::size_t>::max();
}

std::int64_t most_tokens(std::size_t split, const CorpusSettings& settings) {
  return split == 1 ? settings.valid_tokens : std::numeric_limits<std::int64_t>::max();
}

/// A book: its split's place, and its name in the official lists: "validation/12.txt" for "Valid/12.txt".
struct Book {
  std::size_t split;
  std::string name;
};

/// The book of a file's name; nullopt if the file is not a book.
std::optional<Book> book_of(std::string_view name) {
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos || !name.ends_with(".txt")) return std::nullopt;
  const auto folder = split_of_folder(name.substr(0, slash));
  if (!folder || name.find('/', slash + 1) != std::string_view::npos) return std::nullopt;
  return Book{folder->split, fmt::format("{}{}", kBookFolders.at(folder->split), name.substr(slash))};
}

using Books = std::map<std::string, const SourceFile*>;  // by name, in byte order

/// The books that an official list contains.
std::vector<std::string> listed(std::size_t split, const fs::path& lists) {
  constexpr std::uintmax_t kMaxBytes = std::uintmax_t{64} << 20;
  const fs::path file = lists / fmt::format("{}_files.txt", kBookFolders.at(split));
  std::vector<std::string> names;
  std::int64_t number = 0;
  for (const std::string& line : xlm::split(read_file(file, kMaxBytes), '\n')) {
    ++number;
    const std::string name(trim(line));
    if (name.empty()) continue;
    const std::optional<Book> book = book_of(name);
    if (!book || book->split != split) {
      throw DataError(
          fmt::format("{}:{}: '{}' is not a book of {}/", file.string(), number, name, kBookFolders.at(split)));
    }
    names.push_back(book->name);
  }
  return names;
}

std::vector<std::string> there(std::size_t split, const Books& books) {
  std::vector<std::string> names;
  for (const auto& [name, source] : books) {
    if (book_of(name)->split == split) names.push_back(name);
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
      "a listed book is missing: {}{} (lists: {})\nadd what is missing to the folder "
      "after --from, or leave --lists out",
      missing.front(), missing.size() == 1 ? "" : fmt::format(", and {} more", missing.size() - 1), lists.string()));
}

DataError empty_book(const std::string& label) {
  return DataError(fmt::format("the book {} is empty\nfetch it again", label));
}

/// The files that are books, by name. Throws DataError for texts that could be books but have no split, and if a split
/// has two folders.
Books find_books(const std::vector<SourceFile>& found, const CorpusSettings& settings,
                 const PrepareObserver& observer) {
  Books books;
  std::array<std::string, 3> folders;
  for (const SourceFile& source : found) {
    const std::optional<Book> book = book_of(source.name);
    if (book) {
      books.emplace(book->name, &source);
      const std::string folder = source.name.substr(0, source.name.find('/'));
      std::string& known = folders.at(book->split);
      if (known.empty()) known = folder;
      if (known == folder) continue;
      throw DataError(fmt::format("books of {} are in two folders: {} and {}\nremove or rename one of them",
                                  kBookFolders.at(book->split), known, folder));
    }
    const bool in_folder = source.name.find('/') != std::string::npos;
    if (in_folder && source.name.ends_with(".txt") && settings.lists.empty()) {
      throw DataError(
          fmt::format("{} is in no folder of a split\nmove it to train/, validation/ or test/, or remove it",
                      source.path.string()));
    }
    observer.pass_over("files that are no books", source.name);
  }
  return books;
}

std::vector<SourceFile> select_pg19(const std::vector<SourceFile>& found, const CorpusSettings& settings,
                                    const PrepareObserver& observer) {
  const Books books = find_books(found, settings, observer);
  std::set<std::string> left;
  for (const auto& [name, source] : books) left.insert(name);
  std::vector<SourceFile> chosen;
  for (std::size_t split = 0; split < kBookFolders.size(); ++split) {
    std::vector<std::string> names = settings.lists.empty() ? there(split, books) : listed(split, settings.lists);
    std::ranges::sort(names);
    names.resize(std::min(names.size(), most_books(split, settings)));
    check_present(names, books, settings.lists);
    for (const std::string& name : names) {
      const SourceFile& book = *books.at(name);
      if (book.size == 0) throw empty_book(book.path.string());
      chosen.push_back(book);
      left.erase(name);
    }
  }
  for (const std::string& name : left) observer.pass_over("books beyond --books and --lists", name);
  if (!chosen.empty()) return chosen;
  throw DataError("there are no books\nname the folder that holds train/, validation/ and test/ with --from");
}

void read_pg19(const std::vector<SourceFile>& sources, const CorpusSettings& settings, const PrepareObserver& observer,
               CleanText& text) {
  std::size_t split = kBookFolders.size();
  read_sources(sources, settings.reading, observer, [&](const TextFile& file) {
    const std::size_t now = book_of(file.source.name)->split;
    if (now != split) text.begin_split(now);
    split = now;
    text.begin_document(most_tokens(now, settings));
    bool blank = true;
    const auto take = [&](std::string_view block) {
      blank = blank && trim(block).empty();
      text.write(block);
    };
    for_each_block(file, take, settings.line_ends);
    if (blank) throw empty_book(file.label);
  });
}

}  // namespace

Corpus pg19_corpus() {
  return {.name = "pg-19",
          .summary = "books: a folder with train/, validation/ and test/; needs --bpe or --unit byte, takes --lists",
          .language = "en",
          .cleanings = {"none"},
          .units = {"bpe", "byte"},
          .folders = true,
          .own_splits = true,
          .lists = true,
          .cut_books = true,
          .select = select_pg19,
          .read = read_pg19};
}

}  // namespace xlm
