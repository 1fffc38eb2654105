// YAML as a plain tree that remembers positions, so that every error can name file and line.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/json.h"

namespace xlm {

/// One YAML node. Maps keep their order; keys are text. Aliases are expanded (up to a bounded total size).
struct Yaml {
  enum class Kind { kNull, kScalar, kSequence, kMap };

  Kind kind = Kind::kNull;
  std::string scalar;       // kScalar
  bool quoted = false;      // kScalar: written in quotes, so never a number or a boolean
  std::vector<Yaml> items;  // kSequence
  struct Entry;
  std::vector<Entry> entries;                 // kMap
  std::shared_ptr<const std::string> source;  // file name, or another origin
  int line = 0;                               // counted from 1; 0 if there are no lines

  bool is_map() const { return kind == Kind::kMap; }
  bool is_sequence() const { return kind == Kind::kSequence; }
  bool is_scalar() const { return kind == Kind::kScalar; }
  bool is_null() const { return kind == Kind::kNull; }

  /// The value of `key` in a map, or null.
  const Yaml* find(std::string_view key) const;
  Yaml* find(std::string_view key);
  /// The same, but null also for a null value: a profile removes a key like this.
  const Yaml* given(std::string_view key) const;

  /// Sets `value` at a dotted path and makes the maps on the way. Throws UsageError if a step is not a map.
  void set(std::string_view dotted_path, Yaml value);

  /// Removes `key` from a map and returns its value; a null node if the key is missing.
  Yaml take(std::string_view key);

  /// "file:line", or the source alone.
  std::string where() const;
};

/// A key and its value.
struct Yaml::Entry {
  Entry(std::string key, Yaml value) : first(std::move(key)), second(std::move(value)) {}
  std::string first;
  Yaml second;
};

/// Throws a UsageError that begins with the position of `node`.
[[noreturn]] void fail_at(const Yaml& node, const std::string& message);

/// The text of a scalar. Throws UsageError with `what` for any other node.
std::string scalar_text(const Yaml& node, std::string_view what);

/// Throws UsageError for the first key of a map that is not one of `known`.
void refuse_unknown(const Yaml& map, const std::vector<std::string>& known);

/// Parses one document. Throws UsageError with file:line if the text is not UTF-8 or not YAML, if a key occurs twice or
/// is not text, if there are several documents, and beyond the limits (1 MB, 100 levels, 200,000 nodes after aliases).
Yaml parse_yaml(std::string_view text, const std::string& source);

/// Reads and parses a file. Throws UsageError when it is missing: a configuration is something the user names.
Yaml read_yaml(const fs::path& path);

/// The same of what a command line names, which may be a pipe: see read_argument.
Yaml read_yaml_argument(const fs::path& path);

/// Lays `over` on `base`: maps are merged key by key, everything else is replaced.
Yaml merge(Yaml base, const Yaml& over);

/// Applies "KEY=VALUE" with a dotted key and a YAML value. Throws UsageError.
void apply_override(Yaml& tree, std::string_view assignment);

Yaml make_scalar(std::string text, const std::string& source);
Yaml make_map(const std::string& source);

/// Scalars become null, booleans, integers, reals or strings, the way YAML 1.2 reads them.
Json to_json(const Yaml& node);
Yaml yaml_from_json(const Json& value, const std::string& source);

/// Block style, two spaces, lists of scalars on one line. Parsing the text gives the tree again.
std::string to_text(const Yaml& node);

}  // namespace xlm
