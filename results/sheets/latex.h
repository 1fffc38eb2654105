// Text for LaTeX.
#pragma once

#include <string>
#include <string_view>

namespace xlm {

/// `text` with what means something to LaTeX escaped, with names for signs that its fonts lack, and with negative
/// numbers in mathematics, where they have a minus sign: pdflatex takes the result without any package. Letters beyond
/// Latin and Greek stay as they are.
std::string latex_escape(std::string_view text);

}  // namespace xlm
