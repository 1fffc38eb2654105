// What a language's cleaner makes of each Unicode character: a table made once, from the rules in docs/data.md.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "datasets/cleaning/languages.h"

namespace xlm {

/// What becomes of Hebrew points and cantillation marks.
enum class HebrewPoints { kRemove, kSpace };

class CharacterRules {
 public:
  /// What a character becomes: these, or `kText` and above, a text of the table. kForeign is a blank in place of a
  /// letter or digit that the alphabet lacks.
  enum Action : std::uint8_t { kBlank, kForeign, kLineBreak, kNothing, kText };

  /// Text that a character becomes.
  struct Text {
    static constexpr std::size_t kRoom = 28;
    std::array<char, kRoom> bytes{};
    std::uint8_t size = 0;
    bool blank_before = false;
    bool blank_after = false;
  };

  CharacterRules(const Language& language, HebrewPoints points);

  std::uint8_t action(char32_t character) const { return actions_[character]; }
  /// Of an action from `kText` on.
  const Text& text(std::uint8_t action) const { return texts_[action]; }
  /// The letter that an ASCII letter becomes; 0 for any other byte.
  char letter(unsigned char byte) const { return letters_[byte]; }

 private:
  std::uint8_t action_of_text(const Text& text);

  std::vector<std::uint8_t> actions_;
  std::vector<Text> texts_;
  std::array<char, 256> letters_{};
};

}  // namespace xlm
