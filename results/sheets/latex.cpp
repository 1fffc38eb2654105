// Text for LaTeX.
#include "results/sheets/latex.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/text.h"

namespace xlm {
namespace {

struct LatexSign {
  std::string_view from;
  std::string_view to;
};

/// What means something to LaTeX, or what the fonts that every installation has lack. "[" and "*" would be read as
/// arguments after a line's end.
constexpr std::array<LatexSign, 52> kLatexSigns{{
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
    {"√", "$\\surd$"},
}};

/// Letters with their names in mathematics, and digits that stand above and below the line.
constexpr std::string_view kGreek =
    "α alpha β beta γ gamma δ delta ε epsilon ζ zeta η eta θ theta ι iota κ kappa λ lambda μ mu µ mu ν nu ξ xi "
    "π pi ρ rho σ sigma τ tau υ upsilon φ phi χ chi ψ psi ω omega Γ Gamma Δ Delta ∆ Delta Θ Theta Λ Lambda Ξ Xi "
    "Π Pi Σ Sigma Φ Phi Ψ Psi Ω Omega";
constexpr std::string_view kRaised = "⁰ 0 ¹ 1 ² 2 ³ 3 ⁴ 4 ⁵ 5 ⁶ 6 ⁷ 7 ⁸ 8 ⁹ 9 ⁺ + ⁻ -";
constexpr std::string_view kLowered = "₀ 0 ₁ 1 ₂ 2 ₃ 3 ₄ 4 ₅ 5 ₆ 6 ₇ 7 ₈ 8 ₉ 9";

using SignWords = std::vector<std::pair<std::string, std::string>>;

/// What LaTeX takes for each sign.
const SignWords& sign_words() {
  static const SignWords all = [] {
    SignWords words;
    for (const LatexSign& sign : kLatexSigns) words.emplace_back(sign.from, sign.to);
    const auto add = [&](std::string_view pairs, const std::string& before, const std::string& behind) {
      const std::vector<std::string> parts = split(pairs, ' ');
      for (std::size_t i = 0; i < parts.size(); i += 2) words.emplace_back(parts[i], before + parts[i + 1] + behind);
    };
    add(kGreek, "$\\", "$");
    add(kRaised, "$^{", "}$");
    add(kLowered, "$_{", "}$");
    return words;
  }();
  return all;
}

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
    const auto found = std::find_if(sign_words().begin(), sign_words().end(),
                                    [&](const auto& each) { return text.starts_with(each.first); });
    if (const std::string_view number = negative_number(text, before); !number.empty()) {
      out += in_mathematics(number);
      take(number.size());
    } else if (found == sign_words().end()) {
      out += static_cast<unsigned char>(text.front()) < 0x20 ? ' ' : text.front();
      take(1);
    } else {
      out += found->second;
      take(found->first.size());
    }
  }
  return out;
}

}  // namespace xlm
