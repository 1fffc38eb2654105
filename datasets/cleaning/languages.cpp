// The table of languages. Alphabets and digit words are those with which the data of "Efficient Transformers with
// Dynamic Token Pooling" was made: Vietnamese without f, j, w and z, Hebrew with maqaf, geresh and gershayim.
#include "datasets/cleaning/languages.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace xlm {

const std::vector<Language>& languages() {
  static const std::vector<Language> table{
      {.code = "en",
       .name = "English",
       .alphabet = "abcdefghijklmnopqrstuvwxyz",
       .digits = {"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}},
      {.code = "fi",
       .name = "Finnish",
       .alphabet = "abcdefghijklmnopqrstuvwxyzåäö",
       .digits = {"nolla", "yksi", "kaksi", "kolme", "neljä", "viisi", "kuusi", "seitsemän", "kahdeksan", "yhdeksän"}},
      {.code = "he",
       .name = "Hebrew",
       .alphabet = "אבגדהוזחטיךכלםמןנסעףפץצקרשת־׳״",
       .digits = {"אֶפֶס", "אֶחָד", "שְׁנַיִם", "שְׁלֹשָׁה", "אַרְבָּעָה", "חֲמִשָּׁה", "שִׁשָּׁה", "שִׁבְעָה", "שְׁמוֹנָה", "תִּשְׁעָה"},
       .look_alikes = false,
       .usual_foreign = 0.1},  // Latin names: 5 % in articles of Wikipedia
      {.code = "vi",
       .name = "Vietnamese",
       .alphabet = "abcdeghiklmnopqrstuvxyăâđêôơư"
                   "àáảãạằắẳẵặầấẩẫậèéẻẽẹềếểễệìíỉĩịòóỏõọồốổỗộờớởỡợùúủũụừứửữựỳýỷỹỵ",
       .digits = {"không", "một", "hai", "ba", "bốn", "năm", "sáu", "bảy", "tám", "chín"}},
  };
  return table;
}

const Language& find_language(const std::string& code) {
  std::vector<std::string> codes;
  for (const Language& language : languages()) {
    if (language.code == code) return language;
    codes.emplace_back(language.code);
  }
  throw UsageError(fmt::format("--lang {} is not available{}\nchoose one of: {}", code, did_you_mean(code, codes),
                               join(codes, ", ")));
}

}  // namespace xlm
