// The legend of a figure.
#include "results/figures/legend_block.h"

#include <algorithm>
#include <set>

#include "results/figures/text_measure.h"

namespace xlm {
namespace {

constexpr double kSampleWidth = 2.2;  // of the size of the text, as all of these
constexpr double kSampleGap = 0.5;
constexpr double kColumnGap = 1.4;
constexpr double kLegendLine = 1.35;

/// The columns that have room: as many as there are entries, or fewer.
std::size_t columns_with_room(const std::vector<LegendEntry>& entries, double width, double size, std::size_t most) {
  double widest = 0;
  for (const LegendEntry& entry : entries) widest = std::max(widest, text_width(entry.label, size));
  const double column = (kSampleWidth + kSampleGap + kColumnGap) * size + widest;
  const auto room = static_cast<std::size_t>(std::max(1.0, (width + kColumnGap * size) / column));
  const std::size_t columns = std::min({room, most, entries.size()});
  const std::size_t rows = (entries.size() + columns - 1) / columns;
  return (entries.size() + rows - 1) / rows;  // no last column that is almost empty
}

}  // namespace

std::vector<LegendEntry> legend_entries(const Figure& figure) {
  std::vector<LegendEntry> entries;
  std::set<std::string> labels;
  const auto add = [&](const std::string& label, bool is_front, std::size_t index) {
    if (!label.empty() && labels.insert(label).second) entries.push_back({label, is_front, index});
  };
  for (std::size_t i = 0; i < figure.fronts.size(); ++i) add(figure.fronts[i].label, true, i);
  for (std::size_t i = 0; i < figure.series.size(); ++i) add(figure.series[i].label, false, i);
  return entries;
}

LegendBlock legend_block(const Figure& figure, double width, double size, std::size_t most) {
  LegendBlock block;
  const std::vector<LegendEntry> entries = legend_entries(figure);
  if (entries.empty()) return block;
  block.sample = kSampleWidth * size;
  block.gap = kSampleGap * size;
  block.line = kLegendLine * size;
  block.title = wrapped_text(figure.description.looks.legend.title, width, size);
  const std::size_t columns = columns_with_room(entries, width, size, std::max<std::size_t>(most, 1));
  const double gaps = kColumnGap * size * static_cast<double>(columns - 1);
  const double column_room = (width - gaps) / static_cast<double>(columns);
  double label_width = 0;
  for (const LegendEntry& entry : entries) {
    LegendBlock::Cell cell{.entry = entry,
                           .lines = wrapped_text(entry.label, column_room - block.sample - block.gap, size)};
    label_width = std::max(label_width, widest_text(cell.lines, size));
    block.cells.push_back(std::move(cell));
  }
  const double column_width = block.sample + block.gap + label_width;
  block.width = static_cast<double>(columns) * column_width + gaps;
  block.width = std::max(block.width, widest_text(block.title, size));
  block.height = block.line * static_cast<double>(block.title.size());
  for (std::size_t first = 0; first < block.cells.size(); first += columns) {
    std::size_t lines = 1;
    for (std::size_t i = first; i < std::min(first + columns, block.cells.size()); ++i) {
      block.cells[i].x = static_cast<double>(i - first) * (column_width + kColumnGap * size);
      block.cells[i].y = block.height + block.line / 2;
      lines = std::max(lines, block.cells[i].lines.size());
    }
    block.height += block.line * static_cast<double>(lines);
  }
  return block;
}

}  // namespace xlm
