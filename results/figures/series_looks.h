// Order and looks of series: a thing has one colour and marker in all figures of a file.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "results/figures/figure.h"
#include "results/figures/figure_kind.h"

namespace xlm {

/// Puts series into the order of the description and gives each a look. Warns of names in `labels` and `order`
/// that the figure does not have.
void put_in_order(Figure& figure);

/// Looks that figures share: series of the same columns and with the same value look the same.
class SharedLooks {
 public:
  /// Gives each series the look that its value has in earlier figures, or the next one.
  BuiltFigure applied(BuiltFigure built);

 private:
  std::map<std::vector<std::string>, std::map<std::string, std::size_t>> looks_;  // by columns
};

}  // namespace xlm
