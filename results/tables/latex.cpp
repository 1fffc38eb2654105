// Text for LaTeX.
#include "results/tables/latex.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "base/text.h"

namespace xlm {
namespace {

struct LatexSign {
  std::string_view from;
  std::string_view to;
};

/// What means something to LaTeX, or what the fonts that every installation has lack. "[" and "*" would be read as
/// arguments after a line's end.
constexpr std::array<LatexSign, 108> kLatexSigns{{
    {"\\", "\\textbackslash{}"},
    {"&", "\\&"},
    {"[", "{[}"},
    {"*", "{*}"},
    {"%", "\\%"},
    {"$", "$\\mathdollar$"},
    {"#", "\\#"},
    {"_", "\\_"},
    {"{", "\\{"},
    {"}", "\\}"},
    {"~", "\\textasciitilde{}"},
    {"^", "\\textasciicircum{}"},
    {"<", "$<$"},
    {">", "$>$"},
    {"|", "$|$"},
    {"–", "--"},
    {"—", "---"},
    {"…", "\\ldots{}"},
    {"“", "``"},
    {"”", "''"},
    {"‘", "`"},
    {"’", "'"},
    {"\xC2\xA0", "~"},
    {"±", "$\\pm$"},
    {"×", "$\\times$"},
    {"·", "$\\cdot$"},
    {"−", "$-$"},
    {"≤", "$\\leq$"},
    {"≥", "$\\geq$"},
    {"≠", "$\\neq$"},
    {"≈", "$\\approx$"},
    {"∞", "$\\infty$"},
    {"→", "$\\rightarrow$"},
    {"●", "$\\bullet$"},
    {"←", "$\\leftarrow$"},
    {"▸", "$\\triangleright$"},
    {"°", "$^{\\circ}$"},
    {"½", "$\\frac{1}{2}$"},
    {"¼", "$\\frac{1}{4}$"},
    {"¾", "$\\frac{3}{4}$"},
    {"÷", "$\\div$"},
    {"¬", "$\\neg$"},
    {"ª", "$^{a}$"},
    {"º", "$^{o}$"},
    {"§", "$\\mathsection$"},
    {"¶", "$\\mathparagraph$"},
    {"†", "$\\dagger$"},
    {"‡", "$\\ddagger$"},
    {"•", "$\\bullet$"},
    {"‰", "{}$^{0}\\!/_{00}$"},
    {"⁰", "$^{0}$"},
    {"¹", "$^{1}$"},
    {"²", "$^{2}$"},
    {"³", "$^{3}$"},
    {"⁴", "$^{4}$"},
    {"⁵", "$^{5}$"},
    {"⁶", "$^{6}$"},
    {"⁷", "$^{7}$"},
    {"⁸", "$^{8}$"},
    {"⁹", "$^{9}$"},
    {"⁺", "$^{+}$"},
    {"⁻", "$^{-}$"},
    {"₀", "$_{0}$"},
    {"₁", "$_{1}$"},
    {"₂", "$_{2}$"},
    {"₃", "$_{3}$"},
    {"₄", "$_{4}$"},
    {"₅", "$_{5}$"},
    {"₆", "$_{6}$"},
    {"₇", "$_{7}$"},
    {"₈", "$_{8}$"},
    {"₉", "$_{9}$"},
    {"µ", "$\\mu$"},
    {"√", "$\\surd$"},
    {"∆", "$\\Delta$"},
    {"α", "$\\alpha$"},
    {"β", "$\\beta$"},
    {"γ", "$\\gamma$"},
    {"δ", "$\\delta$"},
    {"ε", "$\\epsilon$"},
    {"ζ", "$\\zeta$"},
    {"η", "$\\eta$"},
    {"θ", "$\\theta$"},
    {"ι", "$\\iota$"},
    {"κ", "$\\kappa$"},
    {"λ", "$\\lambda$"},
    {"μ", "$\\mu$"},
    {"ν", "$\\nu$"},
    {"ξ", "$\\xi$"},
    {"π", "$\\pi$"},
    {"ρ", "$\\rho$"},
    {"σ", "$\\sigma$"},
    {"τ", "$\\tau$"},
    {"υ", "$\\upsilon$"},
    {"φ", "$\\phi$"},
    {"χ", "$\\chi$"},
    {"ψ", "$\\psi$"},
    {"ω", "$\\omega$"},
    {"Γ", "$\\Gamma$"},
    {"Δ", "$\\Delta$"},
    {"Θ", "$\\Theta$"},
    {"Λ", "$\\Lambda$"},
    {"Ξ", "$\\Xi$"},
    {"Π", "$\\Pi$"},
    {"Σ", "$\\Sigma$"},
    {"Φ", "$\\Phi$"},
    {"Ψ", "$\\Psi$"},
    {"Ω", "$\\Omega$"},
}};

/// `name` as far as a label takes it.
std::string latex_label(std::string name) {
  std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '.'; });
  return name;
}

}  // namespace

std::string latex_escape(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto found = std::find_if(kLatexSigns.begin(), kLatexSigns.end(),
                                    [&](const LatexSign& each) { return text.starts_with(each.from); });
    if (found == kLatexSigns.end()) {
      out += static_cast<unsigned char>(text.front()) < 0x20 ? ' ' : text.front();
      text.remove_prefix(1);
    } else {
      out += found->to;
      text.remove_prefix(found->from.size());
    }
  }
  return out;
}

std::string latex_table(const LatexTable& table) {
  std::string alignment;
  std::vector<std::string> titles;
  for (const LatexTable::Column& column : table.columns) {
    alignment += column.right ? 'r' : 'l';
    titles.push_back(column.title);
  }
  std::string out = "\\begin{table}\n  \\centering\n";
  // Standard classes leave no room below a caption that stands above its table. All of this ends with the table.
  out += "  \\setlength{\\abovecaptionskip}{0pt}\\setlength{\\belowcaptionskip}{6pt}\n";
  out += "  \\ifdefined\\toprule\\else\\let\\toprule\\hline\\let\\midrule\\hline\\let\\bottomrule\\hline\\fi\n";
  out += fmt::format("  \\caption{{{}}}\n", latex_escape(table.caption));
  if (const std::string name = latex_label(table.name); !name.empty())
    out += fmt::format("  \\label{{tab:{}}}\n", name);
  out += fmt::format("  \\begin{{tabular}}{{{}}}\n    \\toprule\n", alignment);
  const auto line = [&](const std::vector<std::string>& cells) { out += "    " + join(cells, " & ") + " \\\\\n"; };
  line(titles);
  out += "    \\midrule\n";
  for (const std::vector<std::string>& row : table.rows) line(row);
  out += "    \\bottomrule\n  \\end{tabular}\n";
  if (!table.notes.empty()) {
    out += "\n  \\medskip\n  {\\footnotesize\n";
    for (const std::string& note : table.notes) out += "  " + latex_escape(note) + "\\par\n";
    out += "  }\n";
  }
  return out + "\\end{table}\n";
}

}  // namespace xlm
