// What data folders hold: what the recipe's `corpora` says, otherwise what the folder says.
#include "experiments/checks/corpora.h"

#include "base/text.h"
#include "datasets/prepared/prepared.h"

namespace xlm {
namespace {

std::string normal_path(const std::string& path) {
  std::string normal = fs::path(path).lexically_normal().string();
  while (normal.size() > 1 && normal.back() == '/') normal.pop_back();
  return normal;
}

std::int64_t symbols_at(const Yaml& node) {
  std::int64_t symbols = 0;
  if (!node.is_scalar() || !parse_integer(node.scalar, symbols) || symbols < 1) {
    fail_at(node, "symbols must be a whole number above 0: the size of the vocabulary");
  }
  return symbols;
}

}  // namespace

Corpora::Corpora(const Yaml& tree) {
  const Yaml* node = tree.find("corpora");
  if (node == nullptr || node->is_null()) return;
  if (!node->is_map()) fail_at(*node, "corpora must be a map of data folders to names, as {data/text8: text8-en}");
  for (const auto& [path, given] : node->entries) {
    Declared& declared = declared_[normal_path(path)];
    if (!given.is_map()) {
      declared.name = scalar_text(given, "the name of a corpus");
      continue;
    }
    refuse_unknown(given, {"name", "symbols"});
    const Yaml* name = given.find("name");
    if (name == nullptr) fail_at(given, "the corpus has no name, as {name: text8-en, symbols: 27}");
    declared.name = scalar_text(*name, "the name of a corpus");
    if (const Yaml* symbols = given.find("symbols")) declared.symbols = symbols_at(*symbols);
  }
}

const Corpora::Declared* Corpora::find(const std::string& path) const {
  const auto found = declared_.find(normal_path(path));
  return found == declared_.end() ? nullptr : &found->second;
}

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

std::optional<std::int64_t> Corpora::symbols_of(const std::string& path) const {
  if (fs::is_directory(path)) return summarize_prepared(path).symbols;
  const Declared* declared = find(path);
  return declared == nullptr ? std::nullopt : declared->symbols;
}

}  // namespace xlm
