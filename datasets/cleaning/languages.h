// The languages that can be cleaned the text8 way: their alphabets, and their words for the digits.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace xlm {

/// English, Finnish and Vietnamese articles of Wikipedia have 0.1 to 0.9 % of letters that their alphabets lack, and
/// wiki text of the English one 0.5 %.
constexpr double kUsualForeign = 0.02;

struct Language {
  std::string_view code;                    // what --lang says
  std::string_view name;                    // for people
  std::string_view alphabet;                // lower case, UTF-8; space and line break come on top
  std::array<std::string_view, 10> digits;  // "zero" to "nine"; Hebrew's are pointed
  bool look_alikes = true;                  // look-alike characters become ASCII letters
  double usual_foreign = kUsualForeign;     // share of letters outside of the alphabet that its texts have at most
};

const std::vector<Language>& languages();

/// Throws UsageError with the nearest right code.
const Language& find_language(const std::string& code);

}  // namespace xlm
