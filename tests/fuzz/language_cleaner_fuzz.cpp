// libFuzzer target: any bytes through the cleaners of all languages. The result is in the alphabet, without double
// spaces, does not change if cleaned again, and does not depend on the pieces of the input.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>

#include "datasets/cleaning/language_cleaner.h"

namespace {

std::string clean(const xlm::CharacterRules& rules, std::string_view text, std::size_t piece) {
  std::string result;
  xlm::LanguageCleaner cleaner(rules, xlm::DocumentMark::kArticle, 1,
                               [&](std::string_view clean, const std::vector<std::size_t>& documents) {
                                 for (const std::size_t begin : documents) {
                                   if (begin >= clean.size()) std::abort();
                                 }
                                 result += clean;
                               });
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) cleaner.write(text.substr(0, piece));
  cleaner.finish();
  return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto* const all = [] {
    auto* const made = new std::map<std::string_view, xlm::CharacterRules>;
    for (const xlm::Language& language : xlm::languages()) {
      made->try_emplace(language.code, language, xlm::HebrewPoints::kRemove);
    }
    return made;
  }();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto& [code, rules] : *all) {
    const std::string once = clean(rules, text, size + 1);
    if (once != clean(rules, text, 1) || once != clean(rules, once, once.size() + 1)) std::abort();
    for (const char* pair : {"  ", " \n", "\n ", "\n\n"}) {
      if (once.find(pair) != std::string::npos) std::abort();
    }
    for (std::size_t at = 0; at < once.size();) {
      const char32_t character = xlm::next_code_point(once, at);
      const std::uint8_t action = rules.action(character);
      const bool separator = character == U' ' || character == U'\n';
      if (!separator && action < xlm::CharacterRules::kText) std::abort();
    }
  }
  return 0;
}
