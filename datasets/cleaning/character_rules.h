// The languages that can be cleaned as text8 was, and the replacement of each Unicode character by their rules: a table
// made once, from the rules in docs/corpora.md.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
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

/// The treatment of Hebrew points and cantillation marks.
enum class HebrewPoints { kRemove, kSpace };

class CharacterRules {
 public:
  /// The replacement of a character: one of these, or `kText` and above for a text of the table. kForeign is a blank in
  /// place of a letter or digit that the alphabet lacks.
  enum Action : std::uint8_t { kBlank, kForeign, kLineBreak, kNothing, kText };

  /// A replacement text.
  struct Text {
    static constexpr std::size_t kRoom = 28;
    std::array<char, kRoom> bytes{};
    std::uint8_t size = 0;
    bool blank_before = false;
    bool blank_after = false;
  };

  CharacterRules(const Language& language, HebrewPoints points);

  std::uint8_t action(char32_t character) const { return actions_[character]; }
  /// The text of an action from `kText` on.
  const Text& text(std::uint8_t action) const { return texts_[action]; }
  /// The replacement of an ASCII letter, which is a letter; 0 for any other byte.
  char letter(unsigned char byte) const { return letters_[byte]; }

 private:
  std::uint8_t action_of_text(const Text& text);

  std::vector<std::uint8_t> actions_;
  std::vector<Text> texts_;
  std::array<char, 256> letters_{};
};

}  // namespace xlm
