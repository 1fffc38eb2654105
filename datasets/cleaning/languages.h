// The languages that can be cleaned as text8 was: their alphabets, and their words for digits.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace xlm {

/// Articles of the English, Finnish and Vietnamese Wikipedia have 0.1 to 0.9 % of letters that their alphabets lack;
/// wiki text of the English one has 0.5 %.
constexpr double kUsualForeign = 0.02;

struct Language {
  std::string_view code;                    // the value of --lang
  std::string_view name;                    // for people
  std::string_view alphabet;                // lower case, UTF-8; without space and line break
  std::array<std::string_view, 10> digits;  // "zero" to "nine"; Hebrew's are pointed
  bool look_alikes = true;                  // look-alike characters become ASCII letters
  double usual_foreign =
      kUsualForeign;  // the largest share of letters outside of the alphabet in texts of the language
};

const std::vector<Language>& languages();

/// Throws UsageError with the nearest right code.
const Language& find_language(const std::string& code);

}  // namespace xlm
