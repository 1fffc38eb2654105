// Text for LaTeX.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace xlm {

/// `text` with what means something to LaTeX escaped, with names for signs that its fonts lack, and with negative
/// numbers in mathematics, where they have a minus sign: pdflatex takes the result without any package. Letters beyond
/// Latin and Greek stay as they are.
std::string latex_escape(std::string_view text);

/// A table of cells that LaTeX takes as they are.
struct LatexTable {
  struct Column {
    std::string title;
    bool right = false;
  };
  std::string caption;  // as people write it
  std::string name;     // of its label, tab:NAME
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> notes;  // below, as people write them
};

/// The whole of `\begin{table}`. Its rules are those of booktabs where the document loads that package, and otherwise
/// LaTeX's own: it needs no package.
std::string latex_table(const LatexTable& table);

}  // namespace xlm
