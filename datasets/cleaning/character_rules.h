// The replacement of each Unicode character, by a language's rules: a table made once, from the rules in
// docs/corpora.md.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "datasets/cleaning/languages.h"

namespace xlm {

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
