// The text of python/xlm/draw.py, which the program contains (results/pages/assets.cpp.in).
#pragma once

#include <string_view>

namespace xlm {

std::string_view drawing_script();

}  // namespace xlm
