// The replacement of each Unicode character, by a language's rules.
#include "datasets/cleaning/character_rules.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include <unicode/uchar.h>
#include <unicode/uscript.h>
#include <unicode/uspoof.h>
#include <unicode/ustring.h>
#include <unicode/utf16.h>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "base/utf8.h"
#include "datasets/cleaning/foreign_letters.h"

namespace xlm {
namespace {

void check_icu(UErrorCode status, const char* what) {
  if (U_FAILURE(status)) throw Error(fmt::format("ICU cannot {}: {}", what, u_errorName(status)));
}

std::u16string utf16(char32_t character) {
  std::array<char16_t, 2> units{};
  std::size_t length = 0;
  U16_APPEND_UNSAFE(units.data(), length, character);
  return {units.data(), length};
}

/// Skeletons as in Unicode Technical Standard 39: characters that look alike have the same one.
class Skeletons {
 public:
  Skeletons() {
    UErrorCode status = U_ZERO_ERROR;
    checker_.reset(uspoof_open(&status));
    check_icu(status, "open its data on confusable characters");
    // If several ASCII characters share a skeleton, it stands for the one equal to it: l for I, 1 and |.
    for (char32_t ascii = '!'; ascii <= '~'; ++ascii) {
      const std::u16string skeleton = of(ascii);
      const auto [entry, fresh] = ascii_.emplace(skeleton, ascii);
      if (!fresh && skeleton == utf16(ascii)) entry->second = ascii;
    }
  }

  char32_t look_alike(char32_t character) const {
    const auto found = ascii_.find(of(character));
    if (found != ascii_.end()) return found->second;
    // Unicode's data leaves most full-width forms to its compatibility mapping.
    const bool full_width = character >= 0xFF01 && character <= 0xFF5E;
    return full_width ? character - 0xFF01 + U'!' : 0;
  }

 private:
  std::u16string of(char32_t character) const {
    const std::u16string text = utf16(character);
    std::array<char16_t, 64> skeleton{};
    UErrorCode status = U_ZERO_ERROR;
    const std::int32_t length =
        uspoof_getSkeleton(checker_.get(), 0, text.data(), static_cast<std::int32_t>(text.size()), skeleton.data(),
                           static_cast<std::int32_t>(skeleton.size()), &status);
    check_icu(status, "tell what a character looks like");
    return {skeleton.data(), static_cast<std::size_t>(length)};
  }

  struct Close {
    void operator()(USpoofChecker* checker) const { uspoof_close(checker); }
  };
  std::unique_ptr<USpoofChecker, Close> checker_;
  std::map<std::u16string, char32_t> ascii_;
};

/// Lower case by Unicode's language-independent mapping: one character, but two for İ.
std::u32string lower_case_of(char32_t character) {
  const std::u16string text = utf16(character);
  std::array<char16_t, 8> lower{};
  UErrorCode status = U_ZERO_ERROR;
  const std::int32_t length = u_strToLower(lower.data(), static_cast<std::int32_t>(lower.size()), text.data(),
                                           static_cast<std::int32_t>(text.size()), "", &status);
  check_icu(status, "map to lower case");
  std::u32string characters;
  for (std::int32_t i = 0; i < length;) {
    UChar32 next = 0;
    U16_NEXT(lower.data(), i, length, next);
    characters += static_cast<char32_t>(next);
  }
  return characters;
}

std::u32string utf32(std::string_view text) {
  std::u32string characters;
  for (std::size_t position = 0; position < text.size();) characters += next_code_point(text, position);
  return characters;
}

bool is_hebrew_point(char32_t character) {
  UErrorCode status = U_ZERO_ERROR;
  const auto code_point = static_cast<UChar32>(character);
  return u_charType(code_point) == U_NON_SPACING_MARK && uscript_getScript(code_point, &status) == USCRIPT_HEBREW;
}

/// Characters that are not letters, or whose script is so large that no letter of it looks like an ASCII letter.
bool is_out_of_question(char32_t character) {
  UErrorCode status = U_ZERO_ERROR;
  const auto code_point = static_cast<UChar32>(character);
  const auto type = u_charType(code_point);
  if (type == U_UNASSIGNED || type == U_PRIVATE_USE_CHAR || type == U_SURROGATE || type == U_CONTROL_CHAR) return true;
  if (u_hasBinaryProperty(code_point, UCHAR_UNIFIED_IDEOGRAPH)) return true;
  const UScriptCode script = uscript_getScript(code_point, &status);
  return script == USCRIPT_HANGUL || script == USCRIPT_TANGUT || script == USCRIPT_EGYPTIAN_HIEROGLYPHS ||
         script == USCRIPT_CUNEIFORM;
}

/// The rules of one language, for one character at a time.
class Rules {
 public:
  Rules(const Language& language, HebrewPoints points)
      : language_(&language), alphabet_(utf32(language.alphabet)), points_(points) {}

  /// The replacement of `character`: letters, ' ' for a blank, '
  /// ', or an empty text if it is removed.
  std::u32string apply(char32_t character) const {
    if (character == U'\n') return U"\n";
    if (language_->look_alikes && !is_ascii(character) && !is_letter(character)) {
      static const Skeletons skeletons;
      const char32_t look_alike = skeletons.look_alike(character);
      if (look_alike != 0) character = look_alike;
    }
    std::u32string result;
    for (const char32_t lower : lower_case_of(character)) {
      const bool digit = lower >= U'0' && lower <= U'9';
      result += digit ? spelt(lower - U'0') : keep(lower);
    }
    return result;
  }

 private:
  static bool is_ascii(char32_t character) { return character < 0x80; }

  bool in_alphabet(char32_t character) const { return alphabet_.find(character) != std::u32string::npos; }

  bool is_letter(char32_t character) const {
    const std::u32string lower = lower_case_of(character);
    return lower.size() == 1 && in_alphabet(lower.front());
  }

  std::u32string spelt(char32_t digit) const {
    std::u32string word = U" ";
    for (const char32_t character : utf32(language_->digits[digit])) word += keep(character);
    return word + U" ";
  }

  std::u32string keep(char32_t character) const {
    if (in_alphabet(character)) return {character};
    if (points_ == HebrewPoints::kRemove && !language_->look_alikes && is_hebrew_point(character)) return {};
    return U" ";
  }

  const Language* language_;
  std::u32string alphabet_;
  HebrewPoints points_;
};

/// A table's entry for `result`, which has a letter. Runs of blanks inside it become one blank.
CharacterRules::Text text_of(const std::u32string& result) {
  CharacterRules::Text text;
  text.blank_before = result.front() == U' ';
  text.blank_after = result.back() == U' ';
  std::string bytes;
  for (const char32_t character : result) {
    if (character != U' ') {
      append_utf8(bytes, character);
    } else if (!bytes.empty() && bytes.back() != ' ') {
      bytes += ' ';
    }
  }
  if (bytes.back() == ' ') bytes.pop_back();
  if (bytes.size() > text.bytes.size()) throw Error("a digit's word is too long for the cleaner's table");
  std::copy(bytes.begin(), bytes.end(), text.bytes.begin());
  text.size = static_cast<std::uint8_t>(bytes.size());
  return text;
}

}  // namespace

CharacterRules::CharacterRules(const Language& language, HebrewPoints points)
    : actions_(std::size_t{kLastCodePoint} + 1, kBlank), texts_(kText) {
  const Rules rules(language, points);
  for (char32_t character = 0; character <= kLastCodePoint; ++character) {
    if (is_letter_or_digit(character)) actions_[character] = kForeign;
    if (character != U'\n' && is_out_of_question(character)) continue;
    const std::u32string result = rules.apply(character);
    if (result.empty()) {
      actions_[character] = kNothing;
    } else if (result == U"\n") {
      actions_[character] = kLineBreak;
    } else if (result.find_first_not_of(U' ') != std::u32string::npos) {
      actions_[character] = action_of_text(text_of(result));
      const bool plain = character < 0x80 && result.size() == 1 && result.front() < 0x80;
      if (plain) letters_[character] = static_cast<char>(result.front());
    }
  }
}

std::uint8_t CharacterRules::action_of_text(const Text& text) {
  const auto same = [&](const Text& other) {
    return other.bytes == text.bytes && other.blank_before == text.blank_before &&
           other.blank_after == text.blank_after;
  };
  auto found = std::find_if(texts_.begin() + kText, texts_.end(), same);
  if (found == texts_.end()) {
    if (texts_.size() > UINT8_MAX) throw Error("an alphabet is too long for the cleaner's table");
    found = texts_.insert(texts_.end(), text);
  }
  return static_cast<std::uint8_t>(found - texts_.begin());
}

/// Alphabets and digit words are those with which the data of "Efficient Transformers with Dynamic Token Pooling" was
/// made: Vietnamese without f, j, w and z, Hebrew with maqaf, geresh and gershayim.
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
