// For tests of pages: a store with awkward labels, and tables and figures of it.
#pragma once

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/exhibits/exhibits.h"
#include "results/figures/figure_description.h"
#include "results/figures/figures.h"
#include "results/pages/page.h"
#include "tests/results/run_maker.h"

namespace xlm {

inline constexpr const char* kAwkward = "</script><b>&\"x\" ü – λ";

class PagesTest : public ::testing::Test {
 protected:
  PagesTest() {
    maker_.make_sweep({"fixed", "adaptive"}, {64, 256}, {1, 2, 3});
    maker_.make({.id = "adaptive-span-text8-dead", .type = "dynamic", .span = 64, .state = "failed"});
    store_.sync(maker_.runs());
  }

  Figure figure(const std::string& yaml) {
    RunTable runs(store_);
    return std::get<Figure>(build_figure(
        runs, read_figure_description(find_exhibits(parse_yaml(yaml, "f.yaml"), ExhibitKind::kFigure).front()), {}));
  }

  Table table(const std::string& yaml) {
    RunTable runs(store_);
    return std::get<Table>(build_table(
        runs, read_table_description(find_exhibits(parse_yaml(yaml, "t.yaml"), ExhibitKind::kTable).front()), {}));
  }

  /// Averages, spreads, a star, printed values, a missing cell.
  Table grid() {
    return table(
        "table: Bits per character\nrows: model.span_type\ncolumns: model.span\n"
        "cells: {value: test.bpc, spread: sd, digits: 3}\nstars: {against: [fixed]}\nprinted: {adaptive: {64: 1.9}}\n");
  }

  /// One of each verdict, the first in the file last on a page.
  ClaimList claims() {
    constexpr const char* kSides = ", value: test.bpc, a: {model.span_type: adaptive}, b: {model.span_type: fixed}, ";
    const Yaml file =
        parse_yaml(fmt::format("claims:\n"
                               "- {{claim: none, value: test.bpc, a: {{model.span: 4096}}, b: {{model.span: 64}}}}\n"
                               "- {{claim: open{0}where: {{model.span: 64, seed: 1}}}}\n"
                               "- {{claim: wrong{0}better: b, where: {{model.span: 64}}}}\n"
                               "- {{claim: right{0}margin: 0.05, printed: -0.11, each: model.span}}\n",
                               kSides),
                   "c.yaml");
    RunTable runs(store_);
    ClaimList list{.title = "Claims"};
    for (const Yaml& claim : find_exhibits(file, ExhibitKind::kClaim)) {
      list.claims.push_back(judge_claim(runs, read_claim_description(claim), {}));
    }
    return list;
  }

  static std::string line_yaml() {
    return "figure: Bpc against span\nkind: line\nx: model.span\ny: test.bpc\nseries: model.span_type\nx_scale: log\n";
  }

  TemporaryFolder temporary_;
  RunMaker maker_{temporary_.path() / "runs"};
  Store store_ = Store::in_memory();
};

/// The JSON in a page for its script.
inline Json page_data(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const std::size_t at = page.find(begin);
  EXPECT_NE(at, std::string::npos);
  const std::size_t from = at + begin.size();
  return Json::parse(page.substr(from, page.find("</script>", from) - from));
}

inline std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

}  // namespace xlm
