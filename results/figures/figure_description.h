// What a figure's description says, read from a YAML file: which numbers are drawn against which, and how.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/options.h"
#include "base/yaml.h"
#include "results/store/aggregate.h"
#include "results/store/run_table.h"

namespace xlm {

struct FigureDescription {
  enum class Scale { kLinear, kLog };
  static constexpr std::array<std::string_view, 2> kScaleNames{"linear", "log"};
  enum class Maximize { kNone, kX, kY, kBoth };
  static constexpr std::array<std::string_view, 4> kMaximizeNames{"none", "x", "y", "both"};

  /// Ends of an axis; nothing: as the data want it.
  struct Limits {
    std::optional<double> low;
    std::optional<double> high;
  };

  std::string title;
  std::string name;
  std::string kind = "scatter";  // a line of figure_kinds.def
  std::string x;
  std::string y;
  std::string value;
  std::vector<std::string> series;  // columns whose values together tell the series apart; empty: there is one
  std::string grid;
  std::vector<std::int64_t> rows;
  std::string marks;
  std::string split = "test";
  std::int64_t first = 1;
  std::int64_t tokens = 100;
  std::vector<Filter> where;
  bool front = false;
  Maximize maximize = Maximize::kNone;
  Scale x_scale = Scale::kLinear;
  Scale y_scale = Scale::kLinear;
  std::string x_label;
  std::string y_label;
  Aggregate aggregate = Aggregate::kMean;
  Spread spread = Spread::kDeviation;
  std::string over = "seed";
  std::int64_t smooth = 0;
  Limits x_range;
  Limits y_range;
  bool from_zero = true;
  double width = 0;
  double height = 0;
  std::string font;
  std::string place;  // file:line, for messages

  /// All but title, where, kind, series and the ranges, which are read apart.
  void visit(OptionVisitor& v) {
    v.field({.name = "name", .help = "of the file that is written; made from the title where it is not given"}, name);
    v.field({.name = "x", .help = "column of the store; step: the series of y over training"}, x);
    v.field({.name = "y", .help = "column of the store; text: what the model says of every token"}, y);
    v.field({.name = "value", .help = "heatmap: the column that colours show"}, value);
    v.field(
        {.name = "grid", .help = "a grid that models report (spans) of the newest run, as heatmap, scatter or line"},
        grid);
    v.field({.name = "rows", .help = "a grid as lines: the rows that are shown, counted from 1; left out: few or two"},
            rows);
    v.field(
        {.name = "marks", .help = "text: what the models say of every token; a line stands behind those that have it"},
        marks);
    v.field({.name = "split", .help = "text: the split whose beginning was recorded"}, split);
    v.field({.name = "first", .help = "text: the first token that is shown, counted from 1", .min = 1}, first);
    v.field({.name = "tokens", .help = "text: how many tokens are shown", .min = 2, .max = 200}, tokens);
    v.field({.name = "front", .help = "draw the Pareto front"}, front);
    v.field({.name = "maximize", .help = "axes on which more is better, for the front"}, maximize, kMaximizeNames);
    v.field({.name = "x_scale", .help = "log: logarithmic"}, x_scale, kScaleNames);
    v.field({.name = "y_scale", .help = "log: logarithmic; the colours of a heatmap too"}, y_scale, kScaleNames);
    v.field({.name = "x_label", .help = "made from the column where it is not given"}, x_label);
    v.field({.name = "y_label", .help = "likewise"}, y_label);
    v.field({.name = "aggregate", .help = "how runs that differ in `over` alone become one point"}, aggregate,
            kAggregateNames);
    v.field({.name = "spread", .help = "sd: error bars of one sample standard deviation"}, spread, kSpreadNames);
    v.field({.name = "over", .help = "what runs of one point differ in"}, over);
    v.field({.name = "smooth", .help = "line: a running mean over so many points; 0: none", .min = 0, .max = 1e5},
            smooth);
    v.field({.name = "from_zero", .help = "bars: begin at zero; false: where the data want it"}, from_zero);
    v.field({.name = "width", .help = "of the picture, in inches; 0: as suits its kind", .min = 0, .max = 40}, width);
    v.field({.name = "height", .help = "likewise", .min = 0, .max = 40}, height);
    v.field({.name = "font", .help = "a family that is installed, such as serif or Latin Modern Roman"}, font);
  }
};

/// All keys that a figure's map may have.
const std::vector<std::string>& figure_keys();

/// Reads one description (see find_exhibits). Throws UsageError with file:line.
FigureDescription read_figure_description(const Yaml& description);

}  // namespace xlm
