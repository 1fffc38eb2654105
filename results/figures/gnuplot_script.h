// Figures as gnuplot scripts, with the looks that all of them share.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "results/figures/figure.h"

namespace xlm {

enum class PictureFormat { kSvg, kPdf, kPng };
inline constexpr std::array<std::string_view, 3> kPictureFormatNames{"svg", "pdf", "png"};

/// A complete script with its data inside; the picture goes to standard output.
std::string gnuplot_script(const Figure& figure, PictureFormat format);

}  // namespace xlm
