// How wide texts of a picture are.
#include "results/figures/text_measure.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace xlm {
namespace {

/// Widths of the characters from blank to tilde in DejaVu Sans, in thousandths of the size.
constexpr std::array<int, 95> kWidths{318,  401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337,
                                      636,  636, 636, 636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531,
                                      1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748, 787,
                                      603,  787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500,
                                      500,  613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612,
                                      635,  635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838};
constexpr double kOtherWidth = 0.84;  // of other characters: arrows are among the widest, letters narrower
constexpr double kMonospacedWidth = 0.603;

}  // namespace

double text_width(std::string_view text, double size) {
  int known = 0;
  std::string others;
  for (const char c : text) {
    if (c >= ' ' && c <= '~') {
      known += kWidths.at(static_cast<std::size_t>(c - ' '));
    } else {
      others += c;
    }
  }
  return size * (known / 1000.0 + kOtherWidth * static_cast<double>(display_width(others)));
}

double monospaced_width(std::string_view text, double size) {
  return size * kMonospacedWidth * static_cast<double>(display_width(text));
}

double widest_text(const std::vector<std::string>& texts, double size) {
  double widest = 0;
  for (const std::string& text : texts) widest = std::max(widest, text_width(text, size));
  return widest;
}

std::vector<std::string> wrapped_text(const std::string& text, double width, double size) {
  std::vector<std::string> lines;
  for (const std::string& word : split(text, ' ')) {
    if (word.empty()) continue;
    if (!lines.empty() && text_width(lines.back() + " " + word, size) <= width) {
      lines.back() += " " + word;
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

}  // namespace xlm
