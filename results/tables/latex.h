// Text for LaTeX.
#pragma once

#include <string>
#include <string_view>

namespace xlm {

/// `text` with what means something to LaTeX escaped, and with names for signs that its fonts lack: pdflatex takes the
/// result without any package. Letters beyond Latin and Greek stay as they are.
std::string latex_escape(std::string_view text);

}  // namespace xlm
