// The texts of a picture that gnuplot drew as SVG, with the rectangles that they cover, in pixels.
#pragma once

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

#include "results/figures/text_measure.h"

namespace xlm {

struct SvgText {
  std::string text;
  double size = 0;
  double left = 0;
  double right = 0;
  double top = 0;
  double bottom = 0;

  double x() const { return (left + right) / 2; }
  double y() const { return (top + bottom) / 2; }
  bool touches(const SvgText& other) const {
    return std::min(right, other.right) > std::max(left, other.left) &&
           std::min(bottom, other.bottom) > std::max(top, other.top);
  }
};

inline std::string without_markup(std::string text) {
  text = std::regex_replace(text, std::regex("<[^>]*>"), "");
  text = std::regex_replace(text, std::regex("&lt;"), "<");
  return std::regex_replace(text, std::regex("&amp;"), "&");
}

inline std::vector<SvgText> svg_texts(const std::string& svg) {
  const std::regex pattern(
      "translate\\(([-0-9.]+),([-0-9.]+)\\)( rotate\\((-?[0-9.]+)\\))?\"[^>]*font-family=\"([^\"]*)\" +"
      "font-size=\"([0-9.]+)\"[^>]*text-anchor=\"([a-z]+)\"[^>]*>\\s*<text[^>]*>(.*?)</text>");
  std::vector<SvgText> texts;
  for (std::sregex_iterator found(svg.begin(), svg.end(), pattern), end; found != end; ++found) {
    const std::smatch& match = *found;
    SvgText text{.text = without_markup(match[8]), .size = std::stod(match[6])};
    if (text.text.empty()) continue;
    const bool mono = match[5].str().find("Mono") != std::string::npos;
    const double width = mono ? monospaced_width(text.text, text.size) : text_width(text.text, text.size);
    const double x = std::stod(match[1]);
    const double y = std::stod(match[2]);
    const std::string anchor = match[7];
    const double before = anchor == "start" ? 0 : anchor == "end" ? width : width / 2;  // along the text
    const double ascent = 0.76 * text.size;
    const double descent = 0.24 * text.size;
    const double angle = match[4].matched ? std::stod(match[4]) : 0;
    if (angle == 0) {
      text.left = x - before;
      text.right = text.left + width;
      text.top = y - ascent;
      text.bottom = y + descent;
    } else if (angle == -90) {  // upwards
      text.left = x - ascent;
      text.right = x + descent;
      text.bottom = y + before;
      text.top = text.bottom - width;
    } else {
      ADD_FAILURE() << "a text stands at an angle: " << text.text;
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace xlm
