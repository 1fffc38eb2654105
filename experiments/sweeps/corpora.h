// `corpora` of a recipe: what its data folders hold, before they are prepared.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/yaml.h"

namespace xlm {

/// What is wrong with folders that were asked for.
struct CorpusFaults {
  std::set<std::string>& unnamed;                // of which nothing says what they hold
  std::map<std::string, std::string>& misnamed;  // those that hold something else than `corpora` says, and what
};

class Corpora {
 public:
  Corpora() = default;
  /// Those of a configuration: {data/text8: text8-en}, or {data/text8: {name: text8-en, symbols: 27, tokens:
  /// 90000000}}. Throws UsageError with file:line for anything else.
  explicit Corpora(const Yaml& configuration);

  /// The name of what `path` holds; the path itself where nothing says. Folders are the same however they are written:
  /// ./data/text8 is data/text8.
  std::string name_of(const std::string& path, const CorpusFaults& faults) const;

  /// How many symbols its vocabulary has: of the folder, otherwise as declared; nullopt if neither says.
  std::optional<std::int64_t> symbols_of(const std::string& path) const;

  /// How many tokens its training split has in the paper, as declared, wherever a folder of that name is; nullopt if
  /// the recipe does not say.
  std::optional<std::int64_t> declared_tokens(const std::string& path) const;

 private:
  struct Declared {
    std::string name;
    std::optional<std::int64_t> symbols;
    std::optional<std::int64_t> tokens;
  };
  const Declared* find(const std::string& path) const;

  std::map<std::string, Declared> declared_;  // by normal path
};

}  // namespace xlm
