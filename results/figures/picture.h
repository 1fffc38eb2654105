// Pictures of figures: matplotlib, in the user's Python, draws the traces that plotly.js shows on pages
// (python/xlm/draw.py, which the program contains).
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "base/dialogue.h"
#include "base/json.h"
#include "results/figures/figure.h"

namespace xlm {

enum class PictureFormat { kSvg, kPdf, kPng, kPy };  // kPy: the script that draws it, to be changed by hand
inline constexpr std::array<std::string_view, 4> kPictureFormatNames{"svg", "pdf", "png", "py"};

/// What draw.py draws.
Json picture_of(const Figure& figure);

/// Draws pictures. It starts Python with the first one that is no script.
class Painter {
 public:
  /// The picture's file. Throws UsageError if it cannot be legible at its size, and Error if matplotlib is missing or
  /// fails.
  std::string draw(const Figure& figure, PictureFormat format);

 private:
  Json ask(const Json& request);

  std::unique_ptr<Dialogue> python_;
};

}  // namespace xlm
