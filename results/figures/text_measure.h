// How wide texts of a picture are, and where they break into lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace xlm {

/// The height of a line of text, of its size.
inline constexpr double kTextLine = 1.3;

/// The width of a text in DejaVu Sans of a size, in the size's unit. Usual fonts are narrower. A monospaced font is
/// wider where a text has narrow letters.
double text_width(std::string_view text, double size);
double monospaced_width(std::string_view text, double size);

/// The widest of several texts; 0 if there is none.
double widest_text(const std::vector<std::string>& texts, double size);

/// The text in lines no wider than `width`, broken at blanks. A longer word is a separate line. No text: no line.
std::vector<std::string> wrapped_text(const std::string& text, double width, double size);

}  // namespace xlm
