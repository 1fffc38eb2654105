// What tests of tables share: a store of two span types, two spans and three seeds, and tables of it.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "base/yaml.h"
#include "results/exhibits/exhibits.h"
#include "results/tables/table.h"
#include "results/tables/table_text.h"
#include "tests/results/run_maker.h"

namespace xlm {

inline TableDescription table_of(const std::string& yaml) {
  return read_table_description(find_exhibits(parse_yaml(yaml, "description.yaml"), ExhibitKind::kTable).front());
}

class Tables : public ::testing::Test {
 protected:
  Tables() {
    maker_.make_sweep({"fixed", "adaptive"}, {64, 256}, {1, 2, 3});
    sync();
  }

  void sync() { store_.sync(maker_.runs()); }

  Table table(const std::string& yaml, const std::vector<std::string>& filters = {}) {
    RunTable runs(store_);
    return std::get<Table>(build_table(runs, table_of(yaml), parse_filters(filters)));
  }

  std::string text(const std::string& yaml, int width = 0) {
    return render_table(table(yaml), TableFormat::kText, width);
  }

  TemporaryFolder temporary_;
  RunMaker maker_{temporary_.path() / "runs"};
  Store store_ = Store::in_memory();
};

inline constexpr const char* kGrid =
    "table: Bits per character\nrows: model.span_type\ncolumns: model.span\n"
    "cells: {value: test.bpc, spread: sd, digits: 3}\n";

}  // namespace xlm
