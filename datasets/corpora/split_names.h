// The names that people and hubs give to splits: one table for all who read files that say which split they are of.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/input/sources.h"

namespace xlm {

/// A split, by its place in kSplitNames, and the word that names it.
struct NamedSplit {
  std::size_t split = 0;
  std::string word;  // in lower case
};

/// train, training; validation, valid, val, dev, development; test, testing, eval, evaluation; in any case.
std::optional<std::size_t> split_of_word(std::string_view word);

/// The split that a folder's name says: such a word alone, or beside numbers and "of", "set", "data", "split".
std::optional<NamedSplit> split_of_folder(std::string_view name);

/// The split of a file: as its name says where that is such a word and no other (train.txt) or it is a shard
/// (fi-train-00000-of-00005.parquet); else as the nearest folder says; else as any word of its name does. Folders are
/// those below the one that the user named (with `several_roots`, that one too), or the one that a named file lies in.
/// Nothing where none says so, or two say different ones.
std::optional<NamedSplit> named_split(const SourceFile& source, bool several_roots = false);

/// What names say of all files together.
struct SplitNames {
  std::vector<std::optional<NamedSplit>> of;      // of each file
  std::array<std::vector<std::string>, 3> words;  // of each split, each word once
  std::vector<std::string> unnamed;               // the files that name none

  /// How many splits are named.
  int named() const;
};
SplitNames split_names(const std::vector<SourceFile>& sources);

/// The files with the split that their names say, those of training first, then validation, then test. Throws DataError
/// where a file names none, or where one split goes by two names (dev and validation); `way_out` says what to do then.
std::vector<SourceFile> split_by_names(std::vector<SourceFile> sources, const SplitNames& names,
                                       const std::string& way_out);

}  // namespace xlm
