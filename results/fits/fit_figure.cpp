// Makes the figure of a fit.
#include "results/fits/fit_figure.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "results/quantities/quantities.h"

namespace xlm {
namespace {

constexpr int kCurvePoints = 60;
constexpr std::size_t kMaxCurves = 4;  // of one law, each of a size

/// Some of the values of a column, in order: all, or the ends and those between at even distances.
std::vector<double> some_sizes(const LossPoints& points, std::size_t column) {
  std::vector<double> sizes = different_sizes(points.column(column));
  if (sizes.size() <= kMaxCurves) return sizes;
  std::vector<double> chosen;
  for (std::size_t i = 0; i < kMaxCurves; ++i) chosen.push_back(sizes[i * (sizes.size() - 1) / (kMaxCurves - 1)]);
  return chosen;
}

class LawSeries {
 public:
  LawSeries(Figure& figure, const FitDescription& description, const FittedLaw& fitted)
      : figure_(figure), description_(description), fitted_(fitted), across_(description.columns().size() - 1) {}

  /// `look`: the first that is free. Returns the next one.
  std::size_t add(std::size_t look) {
    if (across_ == 0) {
      add_points(
          "", [](double) { return true; }, look);
      add_curve("", {}, look);
      add_predictions(look);
      return look + 1;
    }
    const std::vector<double> sizes = some_sizes(fitted_.of.points, 0);
    const auto nearest = [&](double own) {  // 0: none is one size with it
      const auto distance = [own](double size) { return std::abs(std::log(own / size)); };
      const double size = *std::ranges::min_element(sizes, {}, distance);
      return distance(size) <= std::log(kOneSize) ? size : 0;
    };
    for (const double size : sizes) {
      const std::string text = fit_size_text(size);
      add_points(
          text, [&](double own) { return nearest(own) == size; }, look);
      add_curve(text, {size}, look);
      ++look;
    }
    add_points(
        "other N", [&](double own) { return nearest(own) == 0; }, look);
    add_predictions(look + 1);
    return look + 2;
  }

 private:
  static std::string fit_size_text(double size) {
    return "N " + (size >= 1000 ? human_count(size) : short_number(size));
  }

  std::string label_of(const std::string& size, const std::string& what) const {
    std::vector<std::string> parts{fitted_.of.label, size, what};
    std::erase(parts, "");
    return parts.empty() ? "runs" : join(parts, ", ");
  }

  /// The runs of whose first column, N if there are two, that holds.
  template <class Condition>
  void add_points(const std::string& size, const Condition& holds, std::size_t look) {
    FigureSeries series{.label = label_of(size, ""), .value = "", .points = {}, .look = look};
    const LossPoints& points = fitted_.of.points;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (!holds(points.x[i].front())) continue;
      series.points.push_back({points.x[i].back(), points.loss[i], std::nullopt, {fitted_.of.runs[i]}});
    }
    put(std::move(series));
  }

  /// The law over all runs and predictions; `before` are the columns in front of the one along x.
  void add_curve(const std::string& size, const std::vector<double>& before, std::size_t look) {
    double low = fitted_.of.points.x.front().back();
    double high = low;
    const auto include = [&](const std::vector<double>& x) {
      low = std::min(low, x.back());
      high = std::max(high, x.back());
    };
    for (const std::vector<double>& x : fitted_.of.points.x) include(x);
    for (const std::vector<double>& x : description_.predict) include(x);
    FigureSeries series{
        .label = label_of(size, "law"), .value = "", .points = {}, .joined = true, .is_curve = true, .look = look};
    for (int i = 0; i <= kCurvePoints; ++i) {
      std::vector<double> x = before;
      x.push_back(low * std::pow(high / low, static_cast<double>(i) / kCurvePoints));
      const Prediction prediction = fitted_.estimate->predict(x);
      series.points.push_back({x.back(), prediction.loss, (prediction.law.high - prediction.law.low) / 2, {}});
    }
    put(std::move(series));
  }

  void add_predictions(std::size_t look) {
    FigureSeries series{
        .label = label_of("", "predicted"), .value = "", .points = {}, .look = look, .is_predicted = true};
    for (std::size_t i = 0; i < description_.predict.size(); ++i) {
      const Prediction& prediction = fitted_.predictions[i];
      series.points.push_back(
          {description_.predict[i].back(), prediction.loss, (prediction.run.high - prediction.run.low) / 2, {}});
    }
    put(std::move(series));
  }

  void put(FigureSeries series) {
    if (series.points.empty()) return;
    series.value = series.label;
    figure_.series.push_back(std::move(series));
  }

  Figure& figure_;
  const FitDescription& description_;
  const FittedLaw& fitted_;
  std::size_t across_;  // columns besides the one along x
};

/// Runs and the parabola of each budget, and the best sizes. Returns the next free look.
std::size_t add_parabolas(Figure& figure, const FittedLaw& fitted, std::size_t look) {
  const std::string begin = fitted.of.label.empty() ? "" : fitted.of.label + ", ";
  const auto put = [&](const std::string& label, std::vector<FigurePoint> points, bool joined) {
    figure.series.push_back({.label = label,
                             .value = label,
                             .points = std::move(points),
                             .joined = joined,
                             .is_curve = joined,
                             .look = look});
  };
  std::vector<FigurePoint> best;
  for (const IsoFlopBudget& budget : fitted.best_sizes->budgets()) {
    const std::string label = begin + "C " + short_number(budget.compute);
    const LossPoints& points = fitted.of.points;
    std::vector<FigurePoint> runs;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (std::ranges::find(budget.settings, points.setting[i]) == budget.settings.end()) continue;
      runs.push_back({points.x[i][0], points.loss[i], std::nullopt, {fitted.of.runs[i]}});
    }
    put(label, std::move(runs), false);
    const auto [least, most] = std::minmax_element(budget.log_sizes.begin(), budget.log_sizes.end());
    std::vector<FigurePoint> curve;
    for (int i = 0; i <= kCurvePoints; ++i) {
      const double log_size = *least + (*most - *least) * static_cast<double>(i) / kCurvePoints;
      curve.push_back({std::exp(log_size), budget.parabola->at(log_size), std::nullopt, {}});
    }
    put(label + ", parabola", std::move(curve), true);
    best.push_back({std::exp(budget.parabola->centre), budget.parabola->least, std::nullopt, {}});
    ++look;
  }
  put(begin + "best N", std::move(best), false);
  return look + 1;
}

}  // namespace

Figure figure_of_fit(const FitResult& fit) {
  const FitDescription& description = fit.description;
  Figure figure;
  figure.description.title = description.title;
  figure.description.name = description.name;
  figure.description.kind = "line";
  const bool of_sizes = description.law == FitLaw::kIsoFlops;
  const std::string along = of_sizes ? description.n : description.columns().back();
  figure.description.x = along;
  figure.description.y = description.loss;
  figure.description.series = description.by;
  figure.description.x_scale = FigureDescription::Scale::kLog;
  figure.description.y_scale = FigureDescription::Scale::kLog;
  figure.x_label = column_label(along);
  figure.y_label = column_label(description.loss);
  std::size_t look = 0;
  for (const FittedLaw& fitted : fit.laws) {
    if (fitted.estimate) look = LawSeries(figure, description, fitted).add(look);
    if (fitted.best_sizes) look = add_parabolas(figure, fitted, look);
  }
  if (of_sizes) return figure;
  figure.caption = fmt::format("bands: half of the law's {:g} % interval to each side{}", description.level,
                               description.predict.empty() ? "" : "; bars: likewise, of one more run");
  return figure;
}

}  // namespace xlm
