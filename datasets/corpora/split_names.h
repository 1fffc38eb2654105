// The names that people and hubs give to splits: one table for all readers of files with such names.
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

/// The split of a word, in any case: train, training; validation, valid, val, dev, development, devel, heldout,
/// holdout, testa; test, testing, eval, evaluation, testb, devtest; also with "set", "data" or "split" at its end.
std::optional<std::size_t> split_of_word(std::string_view word);

/// The split of a folder's name: such a word alone, or with numbers and "of", "set", "data", "split".
std::optional<NamedSplit> split_of_folder(std::string_view name);

/// The split of a file. First its own name counts, if it is such a word and no other (train.txt) or a shard
/// (fi-train-00000-of-00005.parquet); then the nearest folder; then any word of its name. Folders are those below the
/// folder that the user named (with `several_roots`, that one too), or the folder of a named file. nullopt if no name
/// gives a split, or if two names differ.
std::optional<NamedSplit> named_split(const SourceFile& source, bool several_roots = false);

/// The splits of all files together, by their names.
struct SplitNames {
  std::vector<std::optional<NamedSplit>> of;      // of each file
  std::array<std::vector<std::string>, 3> words;  // of each split, each word once
  std::vector<std::string> unnamed;               // the files without a split
  int in_folders = 0;  // splits that are named if words among others in names of folders count, which do not name all

  /// How many splits are named.
  int named() const;
};

/// If some files have no split by named_split, a word among others in the names of their folders gives it
/// (heldout-monolingual.tokenized.shuffled/), but only if then every file has one.
SplitNames split_names(const std::vector<SourceFile>& sources);

/// The files with the splits of their names: training first, then validation, then test. Throws DataError if a file has
/// none, or if one split has two names (dev and validation); `way_out` says what to do then.
std::vector<SourceFile> split_by_names(std::vector<SourceFile> sources, const SplitNames& names,
                                       const std::string& way_out);

}  // namespace xlm
