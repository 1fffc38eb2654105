// The rule of Text8Cleaner, byte by byte: what its fast loop must equal.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace xlm {

inline std::string plain_text8(std::string_view text) {
  constexpr std::array kDigits{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"};
  std::string words;
  for (const char byte : text) {
    if (byte >= '0' && byte <= '9') {
      words += " " + std::string(kDigits.at(static_cast<std::size_t>(byte - '0'))) + " ";
    } else if (byte >= 'A' && byte <= 'Z') {
      words += static_cast<char>(byte - 'A' + 'a');
    } else {
      words += byte >= 'a' && byte <= 'z' ? byte : ' ';
    }
  }
  std::string clean;
  bool space = true;
  for (const char letter : words) {
    if (letter != ' ' && space) clean += ' ';
    if (letter != ' ') clean += letter;
    space = letter == ' ';
  }
  return clean;
}

}  // namespace xlm
