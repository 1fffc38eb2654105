// Fits as text.
#include "results/fits/fit_text.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/terminal.h"
#include "base/text.h"
#include "results/judgement/verdict.h"
#include "results/quantities/number_format.h"
#include "results/store/shown_runs.h"
#include "results/store/statistics.h"

namespace xlm {
namespace {

bool has_labels(const FitResult& fit) {
  return std::ranges::any_of(fit.laws, [](const FittedLaw& law) { return !law.of.label.empty(); });
}

bool has_made(const std::vector<FitRow>& rows) {
  return std::ranges::any_of(rows, [](const FitRow& row) { return row.made.has_value(); });
}

Sheet fit_sheet(const FitResult& fit) {
  const std::vector<FitRow> rows = rows_of_fit(fit);
  const bool labels = has_labels(fit);
  const bool made = has_made(rows);
  Sheet sheet{.title = fit.description.title, .name = fit.description.name, .notes = notes_of_fit(fit)};
  if (labels) sheet.columns.push_back({join(fit.description.by, ", ")});
  sheet.columns.push_back({"number"});
  sheet.columns.push_back({"value", true});
  sheet.columns.push_back({fmt::format("{:g} % interval", fit.description.level), true});
  if (made) sheet.columns.push_back({"runs reached", true});
  std::string last;
  for (const FitRow& row : rows) {
    std::vector<std::string> line;
    if (labels) line.push_back(row.law == last ? "" : row.law);
    last = row.law;
    line.push_back(row.quantity);
    line.push_back(fit_number(row.value));
    line.push_back(fit_interval(row.interval));
    if (made) line.push_back(row.made ? fit_number(*row.made) : "");
    sheet.add(line);
  }
  return sheet;
}

std::string fits_as_csv(const std::vector<FitResult>& fits) {
  TextTable table({{"fit"}, {"law"}, {"number"}, {"value"}, {"low"}, {"high"}, {"runs reached"}});
  for (const FitResult& fit : fits) {
    for (const FitRow& row : rows_of_fit(fit)) {
      table.add({fit.description.name, row.law, row.quantity, json_number(row.value),
                 row.interval ? json_number(row.interval->low) : "",
                 row.interval ? json_number(row.interval->high) : "", row.made ? json_number(*row.made) : ""});
    }
  }
  return table.render(TextTable::Format::kCsv);
}

/// {"C": 1e19}: a place by its letters.
Json place_json(const std::vector<std::string>& letters, const std::vector<double>& x) {
  Json place = Json::object();
  for (std::size_t k = 0; k < letters.size(); ++k) place[letters[k]] = x[k];
  return place;
}

Json prediction_json(const FitDescription& description, const std::vector<double>& x, const Prediction& prediction) {
  Json json = place_json(description.place_letters(), x);
  json["loss"] = prediction.loss;
  json["low"] = prediction.run.low;
  json["high"] = prediction.run.high;
  json["law_low"] = prediction.law.low;
  json["law_high"] = prediction.law.high;
  return json;
}

Json estimate_json(const FitDescription& description, const FittedLaw& fitted) {
  const LawEstimate& estimate = *fitted.estimate;
  const std::vector<double> values = estimate.found().law.parameters();
  const std::vector<LawInterval> intervals = estimate.intervals();
  const std::vector<std::string> names = description.parameter_names();
  Json parameters = Json::array();
  for (std::size_t i = 0; i < values.size(); ++i) {
    parameters.push_back(
        {{"name", names[i]}, {"value", values[i]}, {"low", intervals[i].low}, {"high", intervals[i].high}});
  }
  Json predictions = Json::array();
  for (std::size_t i = 0; i < fitted.predictions.size(); ++i) {
    predictions.push_back(prediction_json(description, description.predict[i], fitted.predictions[i]));
  }
  Json residuals = Json::array();
  const LossPoints& points = fitted.of.points;
  for (std::size_t i = 0; i < points.size(); ++i) {
    Json residual = {{"run", fitted.of.runs[i]}};
    residual.update(place_json(description.letters(), points.x[i]));
    residual["loss"] = points.loss[i];
    residual["fitted"] = estimate.found().law.at(points.x[i]);
    residual["log_residual"] = estimate.residuals()[i];
    residuals.push_back(std::move(residual));
  }
  Json left_out;
  if (fitted.left_out) {
    left_out = prediction_json(description, fitted.left_out->x, fitted.left_out->predicted);
    left_out["runs_reached"] = fitted.left_out->loss;
    left_out["error"] = fitted.left_out->predicted.loss / fitted.left_out->loss - 1;
  }
  return {{"parameters", std::move(parameters)}, {"misfit", estimate.found().misfit},
          {"spread", estimate.spread()},         {"predictions", std::move(predictions)},
          {"left_out", std::move(left_out)},     {"residuals", std::move(residuals)}};
}

/// "low" and "high"; both null if no interval is known.
Json bounds_json(const std::optional<LawInterval>& interval) {
  return {{"low", interval ? Json(interval->low) : Json()}, {"high", interval ? Json(interval->high) : Json()}};
}

Json best_sizes_json(const FitDescription& description, const FittedLaw& fitted) {
  const IsoFlopEstimate& estimate = *fitted.best_sizes;
  const std::vector<BestSize> sizes = estimate.best_sizes();
  const auto size_json = [](double compute, const BestSize& best) {
    Json json = {{"C", compute}, {"N", best.size}};
    json.update(bounds_json(best.interval));
    return json;
  };
  Json budgets = Json::array();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const IsoFlopBudget& budget = estimate.budgets()[i];
    Json json = size_json(budget.compute, sizes[i]);
    json["loss"] = budget.parabola->least;
    json["curvature"] = budget.parabola->curvature;
    json["off_centre"] = budget.off_centre();
    json["settings"] = budget.losses.size();
    budgets.push_back(std::move(json));
  }
  Json predictions = Json::array();
  for (std::size_t i = 0; i < fitted.size_predictions.size(); ++i) {
    predictions.push_back(size_json(description.predict[i].front(), fitted.size_predictions[i]));
  }
  Json exponent = {{"value", estimate.exponent()}};
  exponent.update(bounds_json(estimate.exponent_interval()));
  return {{"budgets", std::move(budgets)},
          {"exponent", std::move(exponent)},
          {"spread", estimate.spread()},
          {"failed_draws", estimate.failed_draws()},
          {"predictions", std::move(predictions)}};
}

void add_best_sizes(const FitDescription& description, const FittedLaw& fitted, std::vector<FitRow>& rows) {
  const IsoFlopEstimate& estimate = *fitted.best_sizes;
  const std::vector<BestSize> sizes = estimate.best_sizes();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    rows.push_back({fitted.of.label, "best N at C=" + short_number(estimate.budgets()[i].compute), sizes[i].size,
                    sizes[i].interval, std::nullopt});
  }
  rows.push_back({fitted.of.label, "a", estimate.exponent(), estimate.exponent_interval(), std::nullopt});
  for (std::size_t i = 0; i < fitted.size_predictions.size(); ++i) {
    const BestSize& best = fitted.size_predictions[i];
    rows.push_back({fitted.of.label,
                    fmt::format("best N at {}, predicted", fit_place_text(description, description.predict[i])),
                    best.size, best.interval, std::nullopt});
  }
}

/// "0.25 % around the law".
std::string spread_text(const FittedLaw& fitted) {
  if (fitted.best_sizes) return with_digits(fitted.best_sizes->spread(), 2) + " around the parabolas";
  return with_digits(100 * fitted.estimate->spread(), 2) + " % around the law";
}

}  // namespace

std::string fit_number(double value) {
  if (std::abs(value) >= 1e6) return short_number(value);
  if (value != 0 && std::abs(value) < 1e-4) return fmt::format("{:.3g}", value);
  return with_digits(value, 4);
}

std::string fit_interval(const std::optional<LawInterval>& interval) {
  return interval ? interval_text(interval->low, interval->high, fit_number) : "unknown";
}

std::vector<FitRow> rows_of_fit(const FitResult& fit) {
  std::vector<FitRow> rows;
  const FitDescription& description = fit.description;
  for (const FittedLaw& fitted : fit.laws) {
    if (fitted.best_sizes) add_best_sizes(description, fitted, rows);
    const std::string& label = fitted.of.label;
    if (fitted.speed_up) {
      rows.push_back({label,
                      fmt::format("speed-up over {} at {}", description.faster_than,
                                  fit_place_text(description, fitted.speed_up->x)),
                      fitted.speed_up->factor, fitted.speed_up->interval, std::nullopt});
    }
    if (!fitted.estimate) continue;
    const std::vector<double> values = fitted.estimate->found().law.parameters();
    const std::vector<LawInterval> intervals = fitted.estimate->intervals();
    const std::vector<std::string> names = description.parameter_names();
    for (std::size_t i = 0; i < values.size(); ++i) {
      rows.push_back({label, names[i], values[i], intervals[i], std::nullopt});
    }
    if (description.law == FitLaw::kSizeAndData) {
      const auto growth = [](const PowerLaw& law) {
        return law.terms[1].exponent / (law.terms[0].exponent + law.terms[1].exponent);
      };
      rows.push_back(
          {label, "β/(α+β)", growth(fitted.estimate->found().law), fitted.estimate->interval(growth), std::nullopt});
    }
    for (std::size_t i = 0; i < fitted.predictions.size(); ++i) {
      const Prediction& prediction = fitted.predictions[i];
      rows.push_back({label, "L at " + fit_place_text(description, description.predict[i]), prediction.loss,
                      prediction.run, std::nullopt});
    }
    for (const Forecast& forecast : fitted.forecasts) {
      rows.push_back({label, fmt::format("L at {}, registered", fit_place_text(description, forecast.x)), forecast.loss,
                      forecast.run, forecast.reached.empty() ? std::nullopt : std::optional(mean(forecast.reached))});
    }
    if (fitted.left_out) {
      rows.push_back({label, fmt::format("L at {}, left out", fit_place_text(description, fitted.left_out->x)),
                      fitted.left_out->predicted.loss, fitted.left_out->predicted.run, fitted.left_out->loss});
    }
  }
  return rows;
}

std::vector<std::string> notes_of_fit(const FitResult& fit) {
  const FitDescription& description = fit.description;
  std::vector<std::string> notes{description.formula() + "."};
  if (description.law == FitLaw::kSizeAndData) {
    notes.push_back(
        fmt::format("β/(α+β) is the exponent with which the best N grows with compute that is a multiple of N·D. It "
                    "depends on what "
                    "N counts: here {}.",
                    description.n));
  }
  for (const FittedLaw& fitted : fit.laws) {
    const std::string label = fitted.of.label.empty() ? "" : fitted.of.label + ": ";
    if (!fitted.is_fitted()) {
      notes.push_back(label + fitted.problem.reason +
                      (fitted.problem.advice.empty() ? "" : "; " + fitted.problem.advice) + ".");
      continue;
    }
    notes.push_back(fmt::format("{}{} of {}; settings lie {}.", label, counted(fitted.of.points.size(), "run"),
                                counted(fitted.of.points.count_settings(), "setting"), spread_text(fitted)));
    for (const std::string& note : fitted.notes) notes.push_back(label + note + ".");
  }
  const bool of_sizes = description.law == FitLaw::kIsoFlops;
  notes.push_back(fmt::format("Intervals are of {} draws of a bootstrap{}", in_thousands(description.draws),
                              of_sizes ? "." : "; those of L are of one more run."));
  if (of_sizes) notes.emplace_back("Parabolas are biased if the sizes do not lie evenly around the best one.");
  if (fit.incomplete > 0) {
    notes.push_back(fmt::format("{} without a number above 0 in each of {} and {}.", counted(fit.incomplete, "run"),
                                join(description.columns(), ", "), description.loss));
  }
  if (!fit.left_out.empty()) notes.push_back(left_out_note(fit.left_out));
  if (!fit.unproved.empty()) notes.push_back(fit.unproved);
  return notes;
}

Json to_json(const FitResult& fit) {
  const FitDescription& description = fit.description;
  Json laws = Json::array();
  for (const FittedLaw& fitted : fit.laws) {
    Json law = {{"label", fitted.of.label},
                {"runs", fitted.of.runs},
                {"settings", fitted.of.points.count_settings()},
                {"missing", fitted.problem.reason.empty() ? Json() : Json(fitted.problem.reason)}};
    if (fitted.estimate) law.update(estimate_json(description, fitted));
    if (fitted.best_sizes) law.update(best_sizes_json(description, fitted));
    if (fitted.speed_up) {
      law["speed_up"] = place_json(description.letters(), fitted.speed_up->x);
      law["speed_up"].update({{"over", description.faster_than}, {"factor", fitted.speed_up->factor}});
      law["speed_up"].update(bounds_json(fitted.speed_up->interval));
    }
    for (const Forecast& forecast : fitted.forecasts) {
      Json json = place_json(description.letters(), forecast.x);
      json.update({{"loss", forecast.loss}, {"runs_reached", forecast.reached}});
      json.update(bounds_json(forecast.run));
      law["forecasts"].push_back(std::move(json));
    }
    law["notes"] = fitted.notes;
    laws.push_back(std::move(law));
  }
  Json columns = Json::object();
  const std::vector<std::string> letters = description.letters();
  for (std::size_t k = 0; k < letters.size(); ++k) columns[letters[k]] = description.columns()[k];
  return {{"fit", description.title},
          {"name", description.name},
          {"law", kFitLawNames.at(static_cast<std::size_t>(description.law))},
          {"loss", description.loss},
          {"columns", std::move(columns)},
          {"by", description.by},
          {"level", description.level / 100},
          {"draws", description.draws},
          {"incomplete", fit.incomplete},
          {"laws", std::move(laws)}};
}

std::string render_fits(const std::vector<FitResult>& fits, TableFormat format, int width) {
  if (format == TableFormat::kCsv) return fits_as_csv(fits);
  if (format == TableFormat::kJson) {
    Json list = Json::array();
    for (const FitResult& fit : fits) list.push_back(to_json(fit));
    return json_text(list);
  }
  std::vector<std::string> texts;
  for (const FitResult& fit : fits) texts.push_back(render_sheet(fit_sheet(fit), format, width));
  return join(texts, "\n");
}

}  // namespace xlm
