// What data folders hold: what the recipe's `corpora` says, otherwise what the folder says.
#include "experiments/sweeps/corpora.h"

#include <fmt/format.h>

#include "base/lookup.h"
#include "base/text.h"
#include "datasets/prepared/prepared.h"
#include "results/run_folder/run_folder.h"

namespace xlm {
namespace {

std::string normal_path(const std::string& path) {
  std::string normal = fs::path(path).lexically_normal().string();
  while (normal.size() > 1 && normal.back() == '/') normal.pop_back();
  return normal;
}

std::int64_t count_at(const Yaml& node, const char* what) {
  std::int64_t count = 0;
  if (!node.is_scalar() || !parse_integer(node.scalar, count) || count < 1) {
    fail_at(node, fmt::format("{} must be a whole number above 0", what));
  }
  return count;
}

}  // namespace

Corpora::Corpora(const Yaml& configuration) {
  const Yaml* node = configuration.given("corpora");
  if (node == nullptr) return;
  if (!node->is_map()) fail_at(*node, "corpora must be a map of data folders to names, as {data/text8: text8-en}");
  for (const auto& [path, given] : node->entries) {
    Declared& declared = declared_[normal_path(path)];
    if (!given.is_map()) {
      declared.name = scalar_text(given, "the name of a corpus");
      continue;
    }
    refuse_unknown(given, {"name", "symbols", "tokens"});
    const Yaml* name = given.find("name");
    if (name == nullptr) fail_at(given, "the corpus has no name, as {name: text8-en, symbols: 27}");
    declared.name = scalar_text(*name, "the name of a corpus");
    if (const Yaml* symbols = given.find("symbols")) {
      declared.symbols = count_at(*symbols, "symbols, the size of the vocabulary,");
    }
    if (const Yaml* tokens = given.find("tokens")) {
      declared.tokens = count_at(*tokens, "tokens, the size of the training split,");
    }
  }
}

const Corpora::Declared* Corpora::find(const std::string& path) const { return find_in(declared_, normal_path(path)); }

std::string Corpora::name_of(const std::string& path, const CorpusFaults& faults) const {
  const Declared* declared = find(path);
  std::string found;
  if (fs::is_directory(path)) {
    const PreparedSummary data = summarize_prepared(path);
    found = data_name(data.dataset, data.language);
  }
  if (declared != nullptr) {
    if (!found.empty() && found != declared->name) faults.misnamed[path] = found;
    return declared->name;
  }
  if (found.empty()) faults.unnamed.insert(path);
  return found.empty() ? path : found;
}

std::optional<std::int64_t> Corpora::declared_tokens(const std::string& path) const {
  const Declared* declared = find(path);
  return declared == nullptr ? std::nullopt : declared->tokens;
}

std::optional<std::int64_t> Corpora::symbols_of(const std::string& path) const {
  if (fs::is_directory(path)) return summarize_prepared(path).symbols;
  const Declared* declared = find(path);
  return declared == nullptr ? std::nullopt : declared->symbols;
}

}  // namespace xlm
