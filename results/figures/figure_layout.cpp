// Where the parts of a picture are.
#include "results/figures/figure_layout.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

#include "base/error.h"
#include "results/figures/axis_texts.h"
#include "results/figures/layout_parts.h"
#include "results/figures/legend_place.h"
#include "results/figures/plot_notes.h"
#include "results/figures/text_measure.h"
#include "results/figures/tick_room.h"

namespace xlm {
namespace {

/// A place of the legend, and whether its labels may break into lines there.
struct LegendTry {
  LegendKeys::Place place = LegendKeys::Place::kNone;
  bool may_break = true;
};

/// What one try to lay a figure out is made with.
struct LayoutTry {
  double size = 0;  // of text
  LegendTry legend;
  std::size_t columns = 0;  // of panels
  bool is_panel = false;    // of a picture with several
};

/// Places of the legend in the order in which they are tried.
std::vector<LegendTry> legends_to_try(const Figure& figure) {
  using Place = LegendKeys::Place;
  const Place place = figure.description.looks.legend.place;
  if (!has_legend(figure)) return {{Place::kNone}};
  if (place == Place::kInside) return {{Place::kInside}, {Place::kBelow}};
  if (place != Place::kAuto) return {{place}};
  if (!figure.panels.empty()) return {{Place::kBelow}};
  return {{Place::kRight, false}, {Place::kBelow}, {Place::kRight}};
}

/// Numbers of columns of panels in the order in which they are tried; a single 0 if there are no panels.
std::vector<std::size_t> columns_to_try(const Figure& figure) {
  const std::size_t count = figure.panels.size();
  if (count == 0) return {0};
  const auto own = static_cast<std::size_t>(figure.description.looks.facet.columns);
  const auto square = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(count))));
  std::vector<std::size_t> columns;
  for (std::size_t most = own > 0 ? std::min(own, count) : count <= 3 ? count : square; most > 0; --most)
    columns.push_back(most);
  return columns;
}

using LegendPlace = LegendKeys::Place;

constexpr double kUsualWidth = 6.4;  // inches
constexpr double kUsualHeight = 4.2;
constexpr double kWideWidth = 9.6;  // with room for a line of text
constexpr double kWideHeight = 3.4;
constexpr double kLeastHeight = 2.2;                         // if the description gives only a width
constexpr std::array<double, 3> kTextSizes{8.47, 7.5, 6.5};  // points; the first that fits
constexpr double kLeastSize = 6;                             // of any text but the tokens of a text
constexpr double kLeastTokenSize = 4.5;
constexpr double kTitleSize = 1.14;  // of the text's size, as all of these
constexpr double kCaptionSize = 0.72;
constexpr double kPad = 0.7;        // at the edge of the picture
constexpr double kLabelGap = 0.35;  // between the name of y and the texts at its ticks
constexpr double kColourBar = 1.3;
constexpr double kLeastPlotWidth = 11;
constexpr double kLeastPanelWidth = 9;
constexpr double kLeastPlotHeight = 8;
constexpr double kPanelGap = 0.8;          // between panels
constexpr double kPanelShape = 0.8;        // height of a panel, of its width
constexpr double kLeastPanelHeight = 1.3;  // inches
constexpr double kRoomAroundPanels = 0.6;  // inches, above and below
constexpr double kPanelStroke = 1.25;      // strokes of panels are those of a picture that is wider by this
constexpr double kLegendAtRight = 0.34;    // of the width, at most
constexpr double kLegendInside = 0.6;
constexpr std::string_view kCaptionColour = "#777777";

double lines_height(const std::vector<std::string>& lines, double size) {
  return kTextLine * size * static_cast<double>(lines.size());
}

/// Lines and marks are thinner in a small picture.
double stroke_of(double width) { return std::clamp(width / kUsualWidth, 0.6, 1.0); }

class LayoutAttempt {
 public:
  LayoutAttempt(const Figure& figure, const LayoutTry& tried)
      : figure_(figure),
        size_(tried.size),
        legend_place_(tried.legend.place),
        legend_may_break_(tried.legend.may_break),
        columns_(tried.columns),
        title_size_((tried.is_panel ? 1 : kTitleSize) * tried.size),
        is_panel_(tried.is_panel) {
    const double size = tried.size;
    layout_.text_size = size;
    layout_.x_name_size = size;
    set_axes();
    break_texts();
    set_sides();
    set_names();
    set_ends();
    thin_ticks();
    place_texts();
    if (!has_panels()) place_axis_texts(figure_, layout_);
    place_legend();
    if (has_panels()) {
      place_panels();
    } else {
      if (!is_heatmap()) {
        place_references(figure_, layout_);
        blame(place_notes(figure_, layout_));
      }
      check_plot();
    }
    check_labels();
  }

  const std::string& problem() const { return problem_; }
  FigureLayout take() { return std::move(layout_); }

 private:
  bool is_at_right() const { return legend_place_ == LegendPlace::kRight; }
  bool is_below() const { return legend_place_ == LegendPlace::kBelow; }
  std::size_t rows_of_panels() const { return (figure_.panels.size() + columns_ - 1) / columns_; }
  bool has_panels() const { return columns_ > 0; }
  /// Whether the height follows from the width: without a given height, what needs room is added to the picture.
  bool height_is_free() const {
    return figure_.description.height <= 0 && (figure_.description.width > 0 || has_panels());
  }
  bool is_heatmap() const { return !figure_.grid.empty(); }
  double caption_size() const { return std::max(kCaptionSize * size_, kLeastSize); }
  double em(double factor) const { return factor * size_; }
  void blame(const std::string& problem) {
    if (problem_.empty()) problem_ = problem;
  }
  void set_axes();
  void break_texts();
  void set_sides();
  void set_names();
  void set_ends();
  void thin_ticks();
  void place_texts();
  void place_legend();
  void place_panels();
  bool add_part(Figure part, const Box& box, const LayoutTry& tried, const std::string& name);
  void check_plot();
  void check_labels();

  const Figure& figure_;
  double size_;
  LegendPlace legend_place_;
  bool legend_may_break_;
  std::size_t columns_;  // of panels; 0: none
  double title_size_;
  bool is_panel_;
  FigureLayout layout_;
  std::string problem_;
  std::vector<std::string> title_;
  std::vector<std::string> caption_;
  std::vector<std::string> x_label_;
  std::vector<std::string> y_label_;
  LegendBlock legend_;
  double x_texts_ = 0;  // height of the texts below the x axis
};

void LayoutAttempt::set_axes() {
  const FigureDescription& description = figure_.description;
  const double usual_width = figure_.tokens_on_x ? kWideWidth : kUsualWidth;
  const double usual_height = figure_.tokens_on_x ? kWideHeight : kUsualHeight;
  const double width = description.width > 0 ? description.width : usual_width;
  const double shape =
      description.width > 0 ? std::max(kLeastHeight, width * usual_height / usual_width) : usual_height;
  layout_.width = width * kPointsPerInch;
  layout_.stroke = stroke_of(width);
  if (has_panels()) {
    const double panel = width / static_cast<double>(columns_);
    const double height = static_cast<double>(rows_of_panels()) * std::max(kPanelShape * panel, kLeastPanelHeight);
    layout_.stroke = stroke_of(kPanelStroke * panel);
    layout_.height = (description.height > 0 ? description.height : height + kRoomAroundPanels) * kPointsPerInch;
    return;
  }
  layout_.height = (description.height > 0 ? description.height : std::min(shape, usual_height)) * kPointsPerInch;
  if (is_heatmap()) {
    layout_.colour = colour_axis(figure_);
  } else {
    layout_.y = y_axis(figure_);
    if (figure_.x_names.empty()) layout_.x = x_axis(figure_);
  }
  layout_.x_names = figure_.x_names;
  layout_.y_names = figure_.y_names;
}

void LayoutAttempt::break_texts() {
  const double room = layout_.width - 2 * em(kPad);
  const FigureLooks& looks = figure_.description.looks;
  title_ = wrapped_text(looks.show_title ? figure_.description.title : "", room, title_size_);
  caption_ = wrapped_text(looks.show_caption ? figure_.caption : "", room, caption_size());
  x_label_ = wrapped_text(figure_.x_label, room, size_);
  y_label_ = wrapped_text(figure_.y_label, 0.72 * layout_.height, size_);
  if (widest_text(title_, title_size_) > room) blame("a word of its title is wider than the picture");
  if (!has_legend(figure_)) return;
  const double legend_room = is_below() ? room : (is_at_right() ? kLegendAtRight : kLegendInside) * layout_.width;
  const auto columns = static_cast<std::size_t>(looks.legend.columns);
  legend_ = legend_block(figure_, legend_room, size_,
                         columns > 0  ? columns
                         : is_below() ? legend_entries(figure_).size()
                                      : 1);
  const bool broken = std::any_of(legend_.cells.begin(), legend_.cells.end(),
                                  [](const LegendBlock::Cell& cell) { return cell.lines.size() > 1; });
  if ((broken && !legend_may_break_) || legend_.width > legend_room + 1e-6)
    blame("a label of its legend is wider than the room for the legend");
  if (!height_is_free()) return;
  layout_.height += lines_height(title_, title_size_) - kTextLine * title_size_;
  if (is_below()) layout_.height += legend_.height;
}

/// The left and the right end of the plot.
void LayoutAttempt::set_sides() {
  if (has_panels()) {
    layout_.plot.left = em(kPad) + lines_height(y_label_, size_);
    layout_.plot.right = layout_.width - em(kPad);
    if (has_legend(figure_) && is_at_right()) layout_.plot.right -= legend_.width + em(1);
    return;
  }
  const std::vector<std::string> ticks = is_heatmap() ? layout_.y_names : tick_texts(layout_.y);
  layout_.plot.left =
      em(kPad) + lines_height(y_label_, size_) + em(kLabelGap) + widest_text(ticks, size_) + em(kTickGapAtSide);
  layout_.plot.right = layout_.width - em(kPad);
  if (is_heatmap()) {
    const std::vector<std::string> label = wrapped_text(figure_.value_label, 0.72 * layout_.height, size_);
    layout_.plot.right -= lines_height(label, size_) + widest_text(tick_texts(layout_.colour), size_) +
                          em(kTickGapAtSide + kColourBar + 1);
  }
  if (has_legend(figure_) && is_at_right()) layout_.plot.right -= legend_.width + em(1);
  if (layout_.x_names.empty()) {  // half of the last tick's text
    const std::vector<std::string> texts = tick_texts(layout_.x);
    layout_.plot.right -= texts.empty() ? 0 : std::max(0.0, text_width(texts.back(), size_) / 2 - em(kPad) / 2);
  }
}

/// Names on x stand level, upright, or only some of them.
void LayoutAttempt::set_names() {
  if (has_panels()) {
    x_texts_ = -em(kTickGapBelow);  // panels end with some room
    return;
  }
  x_texts_ = kTextLine * size_;
  if (layout_.x_names.empty()) return;
  const double margin = is_heatmap() ? 0 : figure_.tokens_on_x ? 1 : 0.2;
  const double room = layout_.plot.width() / (static_cast<double>(layout_.x_names.size()) + margin);
  NamesOnX names = figure_.tokens_on_x ? tokens_with_room(layout_.x_names, room, size_)
                                       : level_or_upright_names(layout_.x_names, room, size_, is_heatmap());
  if (names.size < (figure_.tokens_on_x ? kLeastTokenSize : kLeastSize)) {
    blame(fmt::format("its {} {} on x have room for {}", layout_.x_names.size(),
                      figure_.tokens_on_x ? "tokens" : "names",
                      std::max(0L, std::lround(std::floor(layout_.plot.width() / names.least_room - margin)))));
  }
  layout_.x_names = std::move(names.names);
  layout_.upright_x_names = names.upright;
  layout_.x_name_size = names.size;
  x_texts_ = kTextLine * std::max(size_, names.size);
  if (!names.upright) return;
  x_texts_ = names.length + em(0.3);
  if (height_is_free() && !figure_.tokens_on_x) layout_.height += names.length - kTextLine * size_;
}

/// The lower and the upper end of the plot.
void LayoutAttempt::set_ends() {
  double bottom = em(kPad) + lines_height(caption_, caption_size());
  if (is_below() && has_legend(figure_)) bottom += legend_.height + em(0.4);
  bottom += lines_height(x_label_, size_) + x_texts_ + em(kTickGapBelow);
  layout_.plot.bottom = bottom;
  layout_.plot.top = layout_.height - em(kPad) - lines_height(title_, title_size_) - em(0.5);
  if (has_legend(figure_) && is_at_right() && legend_.height > layout_.plot.top - bottom + x_texts_)
    blame(fmt::format("its legend has {} entries", legend_.cells.size()));
}

void LayoutAttempt::thin_ticks() {
  if (has_panels()) return;
  thin_ticks_on_x(layout_.x, layout_.plot.width(), size_);
  thin_ticks_on_y(layout_.y, layout_.plot.height(), size_);
  thin_ticks_on_y(layout_.colour, layout_.plot.height(), size_);
  if (!is_heatmap()) return;
  const double row = layout_.plot.height() / static_cast<double>(figure_.grid.size());
  const double column = layout_.plot.width() / static_cast<double>(figure_.grid.front().size());
  if (row < 1.2 * size_) keep_some_names(layout_.y_names, static_cast<std::size_t>(std::ceil(1.2 * size_ / row)));
  layout_.cell_size = size_of_cells(figure_, column, row, size_);
  if (layout_.cell_size < kLeastSize) layout_.cell_size = 0;
}

void LayoutAttempt::place_texts() {
  using Anchor = PlacedText::Anchor;
  const Box& plot = layout_.plot;
  const double pad = em(kPad);
  const auto centred = [&](const std::vector<std::string>& lines, double size) {
    const double half = widest_text(lines, size) / 2;
    return std::clamp((plot.left + plot.right) / 2, std::min(pad + half, layout_.width / 2),
                      std::max(layout_.width - pad - half, layout_.width / 2));
  };
  add_lines(
      layout_, title_,
      {.x = centred(title_, title_size_), .y = layout_.height - pad - kTextLine * title_size_ / 2, .size = title_size_},
      0, -1);
  add_lines(layout_, x_label_,
            {.x = centred(x_label_, size_),
             .y = plot.bottom - em(kTickGapBelow) - x_texts_ - kTextLine * size_ / 2,
             .size = size_},
            0, -1);
  const double half = widest_text(y_label_, size_) / 2;
  const double y = std::clamp((plot.bottom + plot.top) / 2, std::min(pad + half, layout_.height / 2),
                              std::max(layout_.height - pad - half, layout_.height / 2));
  add_lines(layout_, y_label_, {.x = pad + kTextLine * size_ / 2, .y = y, .size = size_, .upright = true}, 1, 0);
  add_lines(layout_, caption_,
            {.x = layout_.width - pad,
             .y = pad + lines_height(caption_, caption_size()) - kTextLine * caption_size() / 2,
             .size = caption_size(),
             .anchor = Anchor::kRight,
             .colour = kCaptionColour},
            0, -1);
  if (!is_heatmap()) return;
  layout_.colour_bar = {plot.right + em(1), plot.right + em(1 + kColourBar), plot.bottom, plot.top};
  const std::vector<std::string> label = wrapped_text(figure_.value_label, 0.72 * layout_.height, size_);
  add_lines(layout_, label,
            {.x = layout_.width - pad - lines_height(label, size_) + kTextLine * size_ / 2,
             .y = (plot.bottom + plot.top) / 2,
             .size = size_,
             .upright = true},
            1, 0);
}

void LayoutAttempt::place_legend() {
  if (!has_legend(figure_)) return;
  if (is_at_right()) return draw_legend(legend_, layout_.plot.right + em(1), layout_.plot.top, layout_);
  if (is_below()) {
    return draw_legend(legend_, std::max(em(kPad), (layout_.width - legend_.width) / 2),
                       em(kPad) + lines_height(caption_, caption_size()) + legend_.height + em(0.2), layout_);
  }
  if (is_heatmap()) return;
  const std::optional<Box> box = corner_of_legend(figure_, layout_, legend_, legend_place_);
  if (!box) return blame("its legend covers data in every corner");
  if (box->left < layout_.plot.left || box->bottom < layout_.plot.bottom) blame("its legend is larger than the plot");
  draw_legend(legend_, box->left, box->top, layout_);
}

/// Lays every panel out in its cell of the plot.
void LayoutAttempt::place_panels() {
  const Box& area = layout_.plot;
  const auto columns = static_cast<double>(columns_);
  const auto rows = static_cast<double>(rows_of_panels());
  const double gap = em(kPanelGap);
  const double width = (area.width() - gap * (columns - 1)) / columns;
  const double height = (area.height() - gap * (rows - 1)) / rows;
  for (std::size_t i = 0; i < figure_.panels.size(); ++i) {
    const std::size_t row = i / columns_;
    const double left = area.left + static_cast<double>(i % columns_) * (width + gap);
    const double top = area.top - static_cast<double>(row) * (height + gap);
    Figure panel = figure_.panels[i];
    panel.description.looks.show_title = true;
    panel.description.looks.show_caption = false;
    panel.description.looks.legend.place = LegendPlace::kNone;
    panel.x_label.clear();
    panel.y_label.clear();
    const std::string name = fmt::format("the panel '{}'", panel.description.title);
    const Box cell{left, left + width, top - height, top};
    if (!add_part(std::move(panel), cell, {.size = size_, .is_panel = true}, name)) return;
  }
}

/// Lays a panel out in a rectangle of the picture. Returns whether it has room there.
bool LayoutAttempt::add_part(Figure part, const Box& box, const LayoutTry& tried, const std::string& name) {
  part.description.width = box.width() / kPointsPerInch;
  part.description.height = box.height() / kPointsPerInch;
  LayoutAttempt attempt(part, tried);
  if (!attempt.problem().empty()) {
    blame(fmt::format("in {} {}", name, attempt.problem()));
    return false;
  }
  layout_.panels.push_back(moved(attempt.take(), box.left, box.bottom));
  layout_.panels.back().width = layout_.width;
  layout_.panels.back().height = layout_.height;
  layout_.panels.back().stroke = layout_.stroke;
  return true;
}

void LayoutAttempt::check_plot() {
  const Box& plot = layout_.plot;
  if (plot.width() < em(is_panel_ ? kLeastPanelWidth : kLeastPlotWidth))
    blame(fmt::format("{:.1f} inches remain between its axes", std::max(plot.width(), 0.0) / kPointsPerInch));
  if (plot.height() < em(kLeastPlotHeight))
    blame(
        fmt::format("{:.1f} inches of its height remain for the axes", std::max(plot.height(), 0.0) / kPointsPerInch));
}

void LayoutAttempt::check_labels() {
  if (widest_text(y_label_, size_) > layout_.height - em(kPad) ||
      widest_text(x_label_, size_) > layout_.width - em(kPad))
    blame("the name of an axis is longer than the picture");
}

}  // namespace

FigureLayout layout_of(const Figure& figure) {
  std::string problem;
  const double own = figure.description.looks.font_size;
  const std::vector<double> sizes =
      own > 0 ? std::vector<double>{own} : std::vector<double>(kTextSizes.begin(), kTextSizes.end());
  for (const std::size_t columns : columns_to_try(figure)) {
    for (const double size : sizes) {
      for (const LegendTry& legend : legends_to_try(figure)) {
        LayoutAttempt attempt(figure, {.size = size, .legend = legend, .columns = columns});
        if (attempt.problem().empty()) return attempt.take();
        problem = attempt.problem();
      }
    }
  }
  const FigureDescription& description = figure.description;
  throw UsageError(fmt::format(
      "the figure '{}' is not legible at {}: {}\nmake it larger (width, height: inches), or show less",
      description.title,
      description.height > 0
          ? fmt::format("{} x {} inches", description.width > 0 ? description.width : kUsualWidth, description.height)
          : fmt::format("a width of {} inches", description.width > 0 ? description.width : kUsualWidth),
      problem));
}

}  // namespace xlm
