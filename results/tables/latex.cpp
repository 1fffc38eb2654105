// Text for LaTeX.
#include "results/tables/latex.h"

#include <algorithm>
#include <array>

namespace xlm {
namespace {

struct LatexSign {
  std::string_view from;
  std::string_view to;
};

/// What means something to LaTeX, or what its fonts lack. "[" and "*" would be read as arguments after a line's end.
constexpr std::array<LatexSign, 94> kLatexSigns{{
    {"\\", "\\textbackslash{}"},
    {"&", "\\&"},
    {"[", "{[}"},
    {"*", "{*}"},
    {"%", "\\%"},
    {"$", "\\$"},
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
    {"←", "$\\leftarrow$"},
    {"▸", "$\\triangleright$"},
    {"°", "$^{\\circ}$"},
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

}  // namespace xlm
