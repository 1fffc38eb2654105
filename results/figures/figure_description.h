// The description of a figure in a YAML file: which numbers it shows, and how.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/options.h"
#include "base/yaml.h"
#include "results/store/run_table.h"
#include "results/store/selection.h"
#include "results/store/statistics.h"

namespace xlm {

struct FigureDescription {
  enum class Scale { kLinear, kLog };
  static constexpr std::array<std::string_view, 2> kScaleNames{"linear", "log"};
  enum class Maximize { kNone, kX, kY, kBoth };
  static constexpr std::array<std::string_view, 4> kMaximizeNames{"none", "x", "y", "both"};

  enum class Legend { kAuto, kRight, kBelow, kInside, kNone };
  static constexpr std::array<std::string_view, 5> kLegendNames{"auto", "right", "below", "inside", "none"};

  std::string title;
  std::string name;
  std::string kind = "scatter";  // a line of figure_kinds.def
  std::string x;
  std::string y;
  std::string value;
  std::vector<std::string> series;                 // columns whose values tell the series apart; empty: one series
  std::map<std::string, std::string> same_series;  // a value of `series` → the value whose series it belongs to
  std::string grid;
  std::vector<std::int64_t> rows;
  std::string marks;
  std::string split = "test";
  std::int64_t first = 1;
  std::int64_t tokens = 100;
  std::vector<Filter> where;
  bool front = false;
  Maximize maximize = Maximize::kNone;
  bool says_maximize = false;  // none, too, is given
  Scale x_scale = Scale::kLinear;
  Scale y_scale = Scale::kLinear;
  std::string x_label;
  std::string y_label;
  Aggregate aggregate = Aggregate::kMean;
  Spread spread = Spread::kDeviation;
  std::string over = "seed";
  Selection choose;  // which of the runs' settings is shown
  Legend legend = Legend::kAuto;
  std::vector<std::pair<std::string, std::string>> labels;  // by the value or label that the text stands for
  std::vector<std::string> order;                           // of series, by value or label; the others follow
  bool show_title = true;
  bool show_caption = true;
  double width = 0;
  double height = 0;
  double font_size = 0;
  std::string place;  // file:line, for messages

  /// All keys but title, where, kind, series, same_series, choose, labels and order, which have separate readers.
  void visit(OptionVisitor& v) {
    v.field({.name = "name", .help = "of the output file; default: made from the title"}, name);
    v.field({.name = "x", .help = "column of the store; step, tokens, flops or seconds: the series of y over training"},
            x);
    v.field({.name = "y", .help = "column of the store; text: a number that models report for every token"}, y);
    v.field({.name = "value", .help = "heatmap: the column that colours show"}, value);
    v.field(
        {.name = "grid", .help = "a grid that models report (spans) of the newest run, as heatmap, scatter or line"},
        grid);
    v.field({.name = "rows", .help = "a grid as lines: the shown rows, counted from 1; default: all, or two of many"},
            rows);
    v.field({.name = "marks",
             .help = "text: a number that models report for every token; a line follows the tokens that have it"},
            marks);
    v.field({.name = "split", .help = "text: the split whose beginning was recorded"}, split);
    v.field({.name = "first", .help = "text: the first shown token, counted from 1", .min = 1}, first);
    v.field({.name = "tokens", .help = "text: the number of shown tokens", .min = 2, .max = 200}, tokens);
    v.field({.name = "front", .help = "draw the Pareto front"}, front);
    v.field({.name = "maximize", .help = "for the front: axes on which more is better"}, maximize, kMaximizeNames);
    v.field({.name = "x_scale", .help = "log: logarithmic"}, x_scale, kScaleNames);
    v.field({.name = "y_scale", .help = "log: logarithmic; the colours of a heatmap too"}, y_scale, kScaleNames);
    v.field({.name = "x_label", .help = "default: made from the column"}, x_label);
    v.field({.name = "y_label", .help = "default: made from the column"}, y_label);
    v.field({.name = "aggregate", .help = "how runs that differ only in `over` become one point"}, aggregate,
            kAggregateNames);
    v.field({.name = "spread", .help = "sd: error bars of one sample standard deviation"}, spread, kSpreadNames);
    v.field({.name = "over", .help = "keys in which runs of one point differ"}, over);
    v.field({.name = "width", .help = "of the picture, in inches; 0: the kind decides", .min = 0, .max = 40}, width);
    v.field({.name = "height", .help = "of the picture, in inches; 0: the kind decides", .min = 0, .max = 40}, height);
    v.field({.name = "font_size", .help = "of texts, in points; 0: what fits", .min = 0, .max = 40}, font_size);
    v.field({.name = "legend", .help = "its place"}, legend, kLegendNames);
    v.field({.name = "show_title", .help = "false: no title in the picture"}, show_title);
    v.field({.name = "show_caption", .help = "false: no line below the picture"}, show_caption);
  }
};

/// The series that counts what a figure's x names along training; empty: x is no such axis.
inline std::string axis_series(const std::string& x) {
  const bool is_axis = x == "tokens" || x == "flops" || x == "seconds";
  return is_axis ? "training_" + x : "";
}

/// Whether a figure shows the course of training, and x is no column.
inline bool is_along_training(const std::string& x) { return x == "step" || !axis_series(x).empty(); }

/// The text that a figure shows for a label or a value.
std::string renamed(const FigureDescription& description, const std::string& label);

const std::vector<std::string>& figure_keys();

/// Reads one description (see find_exhibits). Throws UsageError with file:line.
FigureDescription read_figure_description(const Yaml& description);

}  // namespace xlm
