// The letters that a cleaner removed.
#include "datasets/cleaning/foreign_letters.h"

#include <unicode/uchar.h>

#include "base/excerpt.h"
#include "base/utf8.h"

namespace xlm {

void ForeignLetters::add(const ForeignLetters& more) {
  kept += more.kept;
  lost += more.lost;
  for (const std::string& example : more.examples) {
    if (examples.size() < kMaxExamples) examples.push_back(example);
  }
}

void ForeignLetters::show(std::string_view text, std::size_t position) {
  examples.push_back(excerpt(text, position));
  next_example_ = position + kExcerptBehind;
}

bool is_letter_or_digit(char32_t character) {
  return character == kReplacementCharacter || u_isalnum(static_cast<UChar32>(character)) != 0;
}

}  // namespace xlm
