// Keys of a figure's description that say how it looks on paper: legend, panels, inset, labels, order, lines, notes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/options.h"
#include "base/yaml.h"

namespace xlm {

/// `legend: PLACE`, or a map of place, columns and title.
struct LegendKeys {
  enum class Place { kAuto, kRight, kBelow, kInside, kTopLeft, kTopRight, kBottomLeft, kBottomRight, kNone };
  static constexpr std::array<std::string_view, 9> kPlaceNames{
      "auto", "right", "below", "inside", "top-left", "top-right", "bottom-left", "bottom-right", "none"};

  Place place = Place::kAuto;
  std::int64_t columns = 0;  // at most; 0: as many as have room
  std::string title;

  void visit(OptionVisitor& v) {
    v.field({.name = "place", .help = "of the legend"}, place, kPlaceNames);
    v.field({.name = "columns", .help = "of the legend, at most; 0: as many as have room", .min = 0, .max = 50},
            columns);
    v.field({.name = "title", .help = "above the legend"}, title);
  }
};

/// `facet: COLUMN`, or a map of by and columns: small multiples, one panel for each value of a column of the store.
struct FacetKeys {
  std::string by;            // empty: one plot
  std::int64_t columns = 0;  // at most; 0: as many as have room

  void visit(OptionVisitor& v) {
    v.field({.name = "by", .help = "column of the store; each of its values has a panel"}, by);
    v.field({.name = "columns", .help = "of panels, at most; 0: as many as have room", .min = 0, .max = 50}, columns);
  }
};

/// A small plot inside a plot that shows a part of it enlarged: `inset: {x: [a, b], y: [c, d], place: PLACE}`.
struct InsetKeys {
  enum class Place { kAuto, kTopRight, kTopLeft, kBottomRight, kBottomLeft };
  static constexpr std::array<std::string_view, 5> kPlaceNames{"auto", "top-right", "top-left", "bottom-right",
                                                               "bottom-left"};

  std::array<double, 2> x{};  // from, to
  std::array<double, 2> y{};
  Place place = Place::kAuto;

  void visit(OptionVisitor& v) {
    v.field({.name = "place", .help = "of the inset; auto: a corner without data"}, place, kPlaceNames);
  }
};

/// A line across the plot at a number of one axis.
struct ReferenceLine {
  std::optional<double> x;
  std::optional<double> y;
  std::string label;
};

/// A text next to a point.
struct Annotation {
  std::string x;  // a number, or the name of a place
  double y = 0;
  std::string text;
};

struct FigureLooks {
  LegendKeys legend;
  FacetKeys facet;
  std::optional<InsetKeys> inset;
  std::vector<std::pair<std::string, std::string>> labels;  // by the value or label that the text stands for
  std::vector<std::string> order;                           // of series, by value or label; the others follow
  std::vector<ReferenceLine> references;
  std::vector<Annotation> annotations;
  bool show_title = true;
  bool show_caption = true;
  bool minor_ticks = false;
  double font_size = 0;  // points; 0: the size of the picture decides

  /// The simple keys.
  void visit(OptionVisitor& v) {
    v.field({.name = "show_title", .help = "false: no title in the picture"}, show_title);
    v.field({.name = "show_caption", .help = "false: no line below the picture"}, show_caption);
    v.field({.name = "minor_ticks", .help = "true: short ticks without numbers between the others"}, minor_ticks);
    v.field({.name = "font_size", .help = "of texts, in points; 0: what fits", .min = 0, .max = 40}, font_size);
  }
};

/// The names of the keys that read_looks takes.
inline constexpr std::array<std::string_view, 7> kLookKeys{"legend", "facet",      "inset",      "labels",
                                                           "order",  "references", "annotations"};

/// Takes the keys of kLookKeys out of a description. Throws UsageError with file:line.
FigureLooks read_looks(Yaml& options);

/// The text that a figure shows for a label or a value.
std::string renamed(const FigureLooks& looks, const std::string& label);

}  // namespace xlm
