// Talks to Optuna.
#include "experiments/sweeps/search_sampler.h"

#include <string>

#include <fmt/format.h>

#include "base/error.h"
#include "base/python_program.h"
#include "base/text.h"

namespace xlm {
namespace {

constexpr double kSecondsToAnswer = 600;  // of a large search on a slow file system

Json key_for_optuna(const KeyRange& key) {
  if (!key.choices.empty()) return {{"name", key.name}, {"choices", key.choices.size()}};
  Json range = {{"name", key.name}, {"log", key.log}, {"whole", key.whole}};
  const auto number = [&](double value) { return key.whole ? Json(static_cast<std::int64_t>(value)) : Json(value); };
  range["low"] = number(key.low);
  range["high"] = number(key.high);
  range["step"] = key.step > 0 ? number(key.step) : Json();
  return range;
}

Json outcome_for_optuna(const TrialOutcome& outcome) {
  Json told = Json::object();
  if (outcome.value) told["value"] = *outcome.value;
  if (outcome.value && outcome.stopped_at > 0) told["step"] = outcome.stopped_at;
  return told;
}

Json read_answer(const std::string& answer) {
  Json read = Json::parse(answer, nullptr, false);
  if (!read.is_object()) {
    throw Error(fmt::format("{} answered no JSON: {:.200}", python_program(), first_line(answer)));
  }
  return read;
}

[[noreturn]] void refuse_without(const std::string& why, const std::string& sampler) {
  throw UsageError(
      fmt::format("sweep.search needs Optuna: {}\n{} -m pip install optuna{}\nXLM_PYTHON=PROGRAM names "
                  "another Python",
                  why, shell_word(python_program()), sampler == "cmaes" ? " cmaes" : ""));
}

}  // namespace

SearchSampler::SearchSampler(const Search& search) : search_(search) {
  Json keys = Json::array();
  for (const KeyRange& key : search.keys) keys.push_back(key_for_optuna(key));
  const Json description = {{"sampler", search.sampler},
                            {"generator", search.generator},
                            {"higher", search.higher},
                            {"keys", std::move(keys)}};
  Json answer;
  try {
    python_ =
        std::make_unique<Dialogue>(std::vector<std::string>{python_program(), "-B", "-c", std::string(ask_script())});
    answer = read_answer(ask(description));
  } catch (const ResourceError&) {
    throw;
  } catch (const Error& error) {
    refuse_without(first_line(error.what()), search.sampler);
  }
  if (const auto error = answer.find("error"); error != answer.end()) {
    refuse_without(error->is_string() ? error->get<std::string>() : error->dump(), search.sampler);
  }
}

std::string SearchSampler::ask(const Json& request) { return python_->ask(request.dump(), kSecondsToAnswer); }

std::vector<SearchSetting> SearchSampler::next_round(const std::vector<TrialOutcome>& outcomes,
                                                     const std::vector<std::optional<SearchSetting>>& known) {
  Json told = Json::array();
  for (const TrialOutcome& outcome : outcomes) told.push_back(outcome_for_optuna(outcome));
  Json settings = Json::array();
  for (const std::optional<SearchSetting>& setting : known) settings.push_back(setting ? Json(*setting) : Json());
  const std::string answer = ask({{"tell", std::move(told)}, {"ask", std::move(settings)}});
  return settings_in_answer(answer, known.size(), search_.keys.size());
}

std::vector<SearchSetting> settings_in_answer(const std::string& answer, std::size_t count, std::size_t keys) {
  const Json read = read_answer(answer);
  try {
    auto settings = read.at("settings").get<std::vector<SearchSetting>>();
    bool whole = settings.size() == count;
    for (const SearchSetting& setting : settings) whole = whole && setting.size() == keys;
    if (whole) return settings;
  } catch (const Json::exception&) {
    // Reported below.
  }
  throw Error(fmt::format("Optuna gave no {} settings of {} keys: {:.200}", count, keys, first_line(answer)));
}

}  // namespace xlm
