// Text for LaTeX.
#include "results/sheets/latex.h"

#include <algorithm>
#include <array>

namespace xlm {
namespace {

struct LatexSign {
  std::string_view from;
  std::string_view to;
};

/// What means something to LaTeX, or what the fonts that every installation has lack. "[" and "*" would be read as
/// arguments after a line's end.
constexpr std::array<LatexSign, 109> kLatexSigns{{
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
    {"--", "-{}-{}"},  // and no dash, as in --lr
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

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The negative number with which `text` begins, "-0.240" of "-0.240 ± 0.1"; empty if it begins with none. `before`
/// stands in front of it: the hyphen of a word or a range is none that says less than zero.
std::string_view negative_number(std::string_view text, char before) {
  constexpr std::string_view kInFront = " ([=,";
  if (text.size() < 2 || text[0] != '-' || !is_digit(text[1]) || kInFront.find(before) == std::string_view::npos)
    return {};
  std::size_t end = 2;
  while (end < text.size() && (is_digit(text[end]) || ((text[end] == '.' || text[end] == ',') &&
                                                       end + 1 < text.size() && is_digit(text[end + 1])))) {
    ++end;
  }
  return text.substr(0, end);
}

/// A number in mathematics, where "-" is a minus sign; a comma between its thousands would have a blank behind it
/// there.
std::string in_mathematics(std::string_view number) {
  std::string out = "$";
  for (const char c : number) out += c == ',' ? "{,}" : std::string(1, c);
  return out + "$";
}

}  // namespace

std::string latex_escape(std::string_view text) {
  std::string out;
  char before = ' ';
  const auto take = [&](std::size_t bytes) {
    before = text[bytes - 1];
    text.remove_prefix(bytes);
  };
  while (!text.empty()) {
    const auto found = std::find_if(kLatexSigns.begin(), kLatexSigns.end(),
                                    [&](const LatexSign& each) { return text.starts_with(each.from); });
    if (const std::string_view number = negative_number(text, before); !number.empty()) {
      out += in_mathematics(number);
      take(number.size());
    } else if (found == kLatexSigns.end()) {
      out += static_cast<unsigned char>(text.front()) < 0x20 ? ' ' : text.front();
      take(1);
    } else {
      out += found->to;
      take(found->from.size());
    }
  }
  return out;
}

}  // namespace xlm
