// Keys of a figure's description that say how it looks on paper: legend, panels, labels, order, title.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/options.h"
#include "base/yaml.h"

namespace xlm {

/// `legend: PLACE`, or a map of place, columns and title.
struct LegendKeys {
  enum class Place { kAuto, kRight, kBelow, kInside, kNone };
  static constexpr std::array<std::string_view, 5> kPlaceNames{"auto", "right", "below", "inside", "none"};

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

struct FigureLooks {
  LegendKeys legend;
  FacetKeys facet;
  std::vector<std::pair<std::string, std::string>> labels;  // by the value or label that the text stands for
  std::vector<std::string> order;                           // of series, by value or label; the others follow
  bool show_title = true;
  bool show_caption = true;
  double font_size = 0;  // points; 0: the size of the picture decides

  /// The simple keys.
  void visit(OptionVisitor& v) {
    v.field({.name = "show_title", .help = "false: no title in the picture"}, show_title);
    v.field({.name = "show_caption", .help = "false: no line below the picture"}, show_caption);
    v.field({.name = "font_size", .help = "of texts, in points; 0: what fits", .min = 0, .max = 40}, font_size);
  }
};

/// The names of the keys that read_looks takes.
inline constexpr std::array<std::string_view, 4> kLookKeys{"legend", "facet", "labels", "order"};

/// Takes the keys of kLookKeys out of a description. Throws UsageError with file:line.
FigureLooks read_looks(Yaml& options);

/// The text that a figure shows for a label or a value.
std::string renamed(const FigureLooks& looks, const std::string& label);

}  // namespace xlm
