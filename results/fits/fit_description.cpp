// Reads the description of a fit.
#include "results/fits/fit_description.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "results/store/formula.h"

namespace xlm {
namespace {

/// The numbers of a place in the order of the law's letters. `where` begins messages; empty: the command line.
std::vector<double> place_of_letters(const FitDescription& description, const std::map<std::string, std::string>& given,
                                     const std::string& where) {
  const std::vector<std::string> letters = description.place_letters();
  const std::string begin = where.empty() ? "" : where + ": ";
  const auto wanted = [&] {
    std::vector<std::string> parts;
    for (const std::string& letter : letters) parts.push_back(letter + "=NUMBER");
    return join(parts, ",");
  };
  for (const auto& [letter, text] : given) {
    if (std::ranges::find(letters, letter) != letters.end()) continue;
    throw UsageError(fmt::format("{}the law {} has no {}\nname a place to predict as {}", begin,
                                 kFitLawNames.at(static_cast<std::size_t>(description.law)), letter, wanted()));
  }
  std::vector<double> x;
  for (const std::string& letter : letters) {
    const auto found = given.find(letter);
    if (found == given.end()) {
      throw UsageError(fmt::format("{}a place to predict lacks {}\nname it as {}", begin, letter, wanted()));
    }
    double value = 0;
    if (!parse_real(found->second, value) || !std::isfinite(value) || value <= 0) {
      throw UsageError(
          fmt::format("{}{} of a place to predict is '{}', it must be a number above 0", begin, letter, found->second));
    }
    x.push_back(value);
  }
  return x;
}

/// {C: 1e19}, or a list of maps.
std::vector<std::vector<double>> read_places(const Yaml& node, const FitDescription& description) {
  std::vector<std::vector<double>> places;
  if (node.is_null()) return places;
  for (const Yaml& item : node.is_sequence() ? node.items : std::vector<Yaml>{node}) {
    if (!item.is_map()) fail_at(item, "predict takes a map such as {C: 1e19}, or a list of maps");
    std::map<std::string, std::string> given;
    for (const auto& [letter, value] : item.entries) given[letter] = scalar_text(value, letter);
    places.push_back(place_of_letters(description, given, item.where()));
  }
  return places;
}

/// A formula is checked where it stands: a later message would not name its place.
void check_columns(const Yaml& node, const FitDescription& description) {
  std::vector<std::string> columns = description.columns();
  columns.push_back(description.loss);
  for (const std::string& column : columns) {
    if (column.empty()) fail_at(node, fmt::format("the fit '{}' has an empty name of a column", description.title));
    try {
      if (is_formula(column)) (void)Formula(column);
    } catch (const UsageError& error) {
      fail_at(node, error.what());
    }
  }
}

}  // namespace

std::vector<std::string> FitDescription::letters() const {
  if (law == FitLaw::kCompute) return {"C"};
  if (law == FitLaw::kIsoFlops) return {"N", "C"};
  return {"N", "D"};
}

std::vector<std::string> FitDescription::place_letters() const {
  if (law == FitLaw::kIsoFlops) return {"C"};
  return letters();
}

std::vector<std::string> FitDescription::columns() const {
  if (law == FitLaw::kCompute) return {c};
  if (law == FitLaw::kIsoFlops) return {n, c};
  return {n, d};
}

std::vector<std::string> FitDescription::parameter_names() const {
  if (law == FitLaw::kIsoFlops) return {};
  if (law == FitLaw::kCompute) return {"E", "A", "α"};
  return {"E", "A", "α", "B", "β"};
}

std::string FitDescription::formula() const {
  if (law == FitLaw::kCompute) return fmt::format("{} = E + A·C^(−α), with C = {}", loss, c);
  if (law == FitLaw::kIsoFlops) {
    return fmt::format(
        "The N with the least {} for each C, by parabolas over ln N, and N = G·C^a, with N = {} and C = {}", loss, n,
        c);
  }
  return fmt::format("{} = E + A·N^(−α) + B·D^(−β), with N = {} and D = {}", loss, n, d);
}

EstimateOptions FitDescription::estimate_options() const { return {.draws = draws, .level = level / 100}; }

const std::vector<std::string>& fit_keys() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> names{"fit", "by", "where", "predict"};
    OptionLister lister;
    FitDescription().visit(lister);
    for (const OptionEntry& entry : lister.entries()) names.push_back(entry.key);
    return names;
  }();
  return keys;
}

FitDescription read_fit_description(const Yaml& node) {
  refuse_unknown(node, fit_keys());
  FitDescription description;
  description.place = node.where();
  const Yaml* title = node.find("fit");
  if (title == nullptr) fail_at(node, "the fit has no title (fit: TITLE)");
  description.title = scalar_text(*title, "fit");
  Yaml options = node;
  options.take("fit");
  const Yaml where = options.take("where");
  if (!where.is_null()) description.where = read_filters(where);
  description.by = read_columns(options.take("by"), "by");
  const Yaml predict = options.take("predict");
  OptionReader reader(options);
  description.visit(reader);
  reader.finish();
  description.predict = read_places(predict, description);
  if (description.name.empty()) description.name = name_from_title(description.title);
  if (description.name.empty()) description.name = "fit";
  check_columns(node, description);
  return description;
}

std::vector<double> read_fit_place(const std::string& text, const FitDescription& description) {
  std::map<std::string, std::string> given;
  for (const std::string& part : split(text, ',')) {
    const std::size_t sign = part.find('=');
    if (sign == std::string::npos) {
      throw UsageError(fmt::format("--predict '{}' is no place: name it as C=1e19 or N=1e9,D=2e10", text));
    }
    given[std::string(trim(part.substr(0, sign)))] = std::string(trim(part.substr(sign + 1)));
  }
  return place_of_letters(description, given, "--predict " + text);
}

std::string short_number(double value) {
  std::string number = fmt::format("{:.4g}", value);
  if (const std::size_t sign = number.find("e+"); sign != std::string::npos) {
    number.erase(sign + 1, number[sign + 2] == '0' ? 2 : 1);
  }
  return number;
}

std::string fit_place_text(const FitDescription& description, const std::vector<double>& x) {
  const std::vector<std::string> letters = description.place_letters();
  std::vector<std::string> parts;
  for (std::size_t k = 0; k < letters.size(); ++k) parts.push_back(letters[k] + "=" + short_number(x[k]));
  return join(parts, ", ");
}

}  // namespace xlm
