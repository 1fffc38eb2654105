// The description of a fit in a YAML file: which law, of which columns, and what it predicts.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/options.h"
#include "base/yaml.h"
#include "results/fits/law_estimate.h"
#include "results/store/filter.h"

namespace xlm {

enum class FitLaw {
  kCompute,      // L = E + A·C^(−α)
  kSizeAndData,  // L = E + A·N^(−α) + B·D^(−β)
  kIsoFlops,     // the N of the least L for each C, and N = G·C^a
};
inline constexpr std::array<std::string_view, 3> kFitLawNames{"compute", "size-and-data", "iso-flops"};

struct FitDescription {
  std::string title;
  std::string name;
  FitLaw law = FitLaw::kCompute;
  std::string loss = "test.loss";
  std::string c = "training_flops";
  std::string n = "params";
  std::string d = "training_tokens";
  std::vector<std::string> by;  // columns; their values have separate laws; empty: one law
  std::string faster_than;      // the label of the law that the others are faster than; empty: none is asked for
  std::vector<Filter> where;
  std::vector<std::vector<double>> predict;  // places, a number for each of place_letters()
  std::int64_t draws = 1000;
  double level = 95;
  std::string place;  // file:line, for messages

  /// All keys but the title, by, where and predict, which have separate readers.
  void visit(OptionVisitor& v) {
    v.field({.name = "name", .help = "for --name; default: made from the title"}, name);
    v.field(
        {.name = "law", .help = "compute: E + A·C^(−α); size-and-data: E + A·N^(−α) + B·D^(−β); iso-flops: the best N"},
        law, kFitLawNames);
    v.field({.name = "loss", .help = "L: a column of the store, above 0"}, loss);
    v.field({.name = "c", .help = "C: the column of the compute that a run spent"}, c);
    v.field({.name = "n", .help = "N: the column of a model's size"}, n);
    v.field({.name = "d", .help = "D: the column of the amount of data that a run saw"}, d);
    v.field({.name = "faster_than", .help = "a value of `by`: what its law needs to reach the others' losses"},
            faster_than);
    v.field({.name = "draws", .help = "of the bootstrap", .min = 100, .max = 100'000}, draws);
    v.field({.name = "level", .help = "of intervals, in percent", .min = 50, .max = 99.9}, level);
  }

  /// The letters of what the loss depends on: {"C"}, {"N", "D"} or {"N", "C"}.
  std::vector<std::string> letters() const;
  /// Their columns, in the same order.
  std::vector<std::string> columns() const;
  /// The letters of a place to predict: the same, but of iso-flops {"C"}, whose best N is predicted.
  std::vector<std::string> place_letters() const;
  /// The names of a power law's parameters: E, A, α, …; none of iso-flops.
  std::vector<std::string> parameter_names() const;
  /// "test.loss = E + A·C^(−α), with C = training_flops".
  std::string formula() const;
  EstimateOptions estimate_options() const;
};

const std::vector<std::string>& fit_keys();

/// Reads one description (see find_exhibits). Throws UsageError with file:line.
FitDescription read_fit_description(const Yaml& description);

/// A place to predict from "C=1e19" or "N=1e9,D=2e10". Throws UsageError if a letter of the law is missing or a number
/// is not above 0.
std::vector<double> read_fit_place(const std::string& text, const FitDescription& description);

/// A large number in short: "1e19", "2500".
std::string short_number(double value);

/// "C=1e19", "N=1e9, D=2e10".
std::string fit_place_text(const FitDescription& description, const std::vector<double>& x);

}  // namespace xlm
