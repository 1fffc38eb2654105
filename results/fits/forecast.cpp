// Forecasts of fits.
#include "results/fits/forecast.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "results/quantities/number_format.h"
#include "results/run_folder/registration.h"
#include "results/store/statistics.h"

namespace xlm {
namespace {

/// What must be the same for a forecast to speak of the same law.
Json form_of(const FitDescription& description) {
  Json where = Json::array();
  for (const Filter& filter : description.where) where.push_back(filter.text());
  return {{"law", kFitLawNames.at(static_cast<std::size_t>(description.law))},
          {"loss", description.loss},
          {"columns", description.columns()},
          {"by", description.by},
          {"where", std::move(where)}};
}

bool is_at(const std::vector<double>& x, const std::vector<double>& place) {
  for (std::size_t k = 0; k < place.size(); ++k) {
    if (x[k] > place[k] * kOneSize || place[k] > x[k] * kOneSize) return false;
  }
  return x.size() == place.size();
}

/// The forecasts of one record about a law.
void add_forecasts(const std::vector<Registration>& chain, const Registration& record, const Json& of_law,
                   const fs::path& folder, FittedLaw& fitted) {
  const LossPoints& points = fitted.of.points;
  for (const Json& place : of_law.value("places", Json::array())) {
    Forecast forecast{.x = place.at("x").get<std::vector<double>>(),
                      .loss = place.at("loss"),
                      .run = {place.at("low"), place.at("high")}};
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (!is_at(points.x[i], forecast.x)) continue;
      const std::optional<std::string> seen = seen_by_run(folder / fitted.of.runs[i]);
      if (seen && is_after(chain, *seen, record.hash)) {
        forecast.reached.push_back(points.loss[i]);
      } else {
        ++forecast.late;
      }
    }
    fitted.forecasts.push_back(std::move(forecast));
  }
}

/// "3 registered forecasts, 2 of which runs reached: 3 of 4 runs lie inside, with a mean error of +0.4 %".
std::string score_of(const std::vector<Forecast>& forecasts) {
  std::size_t reached = 0;
  std::size_t inside = 0;
  std::size_t late = 0;
  std::vector<double> errors;  // in percent of the forecast
  for (const Forecast& forecast : forecasts) {
    reached += forecast.reached.empty() ? 0 : 1;
    late += forecast.late;
    for (const double loss : forecast.reached) {
      inside += forecast.run.low <= loss && loss <= forecast.run.high ? 1 : 0;
      errors.push_back(100 * (loss / forecast.loss - 1));
    }
  }
  std::string text = counted(forecasts.size(), "registered forecast");
  if (late > 0)
    text += fmt::format("; {} at {} had begun before and count for nothing", counted(late, "run"),
                        forecasts.size() == 1 ? "its place" : "their places");
  if (errors.empty()) return text + "; no run has reached any yet";
  return fmt::format("{}; {} reached: {} of {} inside, mean error {} %", text, reached, inside,
                     counted(errors.size(), "run"), difference_with_digits(mean(errors), 2));
}

}  // namespace

Json forecasts_of(const std::vector<FitResult>& fits) {
  Json all = Json::object();
  for (const FitResult& fit : fits) {
    Json laws = Json::object();
    for (const FittedLaw& fitted : fit.laws) {
      Json places = Json::array();
      for (std::size_t i = 0; i < fitted.predictions.size(); ++i) {
        const Prediction& predicted = fitted.predictions[i];
        places.push_back({{"x", fit.description.predict[i]},
                          {"loss", predicted.loss},
                          {"low", predicted.run.low},
                          {"high", predicted.run.high}});
      }
      if (!places.empty()) laws[fitted.of.label] = {{"runs", fitted.of.runs}, {"places", std::move(places)}};
    }
    if (!laws.empty()) all[fit.description.name] = {{"form", form_of(fit.description)}, {"laws", std::move(laws)}};
  }
  if (all.empty()) {
    throw UsageError(
        "the fits predict no loss, so there is nothing to register\nname places with --predict, or with predict in the "
        "recipe");
  }
  return all;
}

std::variant<FitResult, NothingToShow> fit_with_forecasts(RunTable& runs, const FitDescription& description,
                                                          const std::vector<Filter>& filters, const fs::path& folder) {
  std::variant<FitResult, NothingToShow> result = build_fit(runs, description, filters);
  FitResult* fit = std::get_if<FitResult>(&result);
  if (fit == nullptr) return result;
  const std::vector<Registration> chain = read_registrations(folder);
  const Json form = form_of(description);
  for (const Registration& one : chain) {
    const Json of_fit = one.record.value(kForecasts, Json::object()).value(description.name, Json::object());
    if (of_fit.value("form", Json()) != form) continue;
    for (FittedLaw& fitted : fit->laws) {
      add_forecasts(chain, one, of_fit["laws"].value(fitted.of.label, Json::object()), folder, fitted);
    }
  }
  for (FittedLaw& fitted : fit->laws) {
    if (!fitted.forecasts.empty()) fitted.notes.push_back(score_of(fitted.forecasts));
  }
  return result;
}

}  // namespace xlm
