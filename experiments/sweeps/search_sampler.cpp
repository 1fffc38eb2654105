// Talks to Optuna.
#include "experiments/sweeps/search_sampler.h"

#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace xlm {
namespace {

constexpr double kSecondsToAnswer = 600;  // of a large search on a slow file system

std::string python_program() {
  const char* named = std::getenv("XLM_PYTHON");  // NOLINT(concurrency-mt-unsafe)
  return named == nullptr || *named == '\0' ? "python3" : named;
}

Json key_for_optuna(const SearchKey& key) {
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

[[noreturn]] void refuse_without(const std::string& why, const std::string& sampler) {
  throw UsageError(
      fmt::format("sweep.search needs Optuna: {}\n{} -m pip install optuna{}\nXLM_PYTHON=PROGRAM names "
                  "another Python",
                  why, shell_word(python_program()), sampler == "cmaes" ? " cmaes" : ""));
}

}  // namespace

SearchSampler::SearchSampler(const Search& search) : search_(search) {
  Json keys = Json::array();
  for (const SearchKey& key : search.keys) keys.push_back(key_for_optuna(key));
  const Json description = {{"sampler", search.sampler},
                            {"generator", search.generator},
                            {"higher", search.higher},
                            {"keys", std::move(keys)}};
  Json answer;
  try {
    python_ =
        std::make_unique<Dialogue>(std::vector<std::string>{python_program(), "-B", "-c", std::string(ask_script())});
    answer = ask(description);
  } catch (const ResourceError&) {
    throw;
  } catch (const Error& error) {
    refuse_without(first_line(error.what()), search.sampler);
  }
  if (answer.contains("error")) refuse_without(answer["error"].get<std::string>(), search.sampler);
}

Json SearchSampler::ask(const Json& request) {
  const std::string answer = python_->ask(request.dump(), kSecondsToAnswer);
  Json read = Json::parse(answer, nullptr, false);
  if (!read.is_object()) throw Error(fmt::format("{} answered no JSON: {}", python_program(), first_line(answer)));
  return read;
}

std::vector<SearchSetting> SearchSampler::next_round(const std::vector<TrialOutcome>& outcomes, std::int64_t count) {
  Json told = Json::array();
  for (const TrialOutcome& outcome : outcomes) told.push_back(outcome_for_optuna(outcome));
  const Json answer = ask({{"tell", std::move(told)}, {"ask", count}});
  try {
    auto settings = answer.at("settings").get<std::vector<SearchSetting>>();
    bool whole = std::ssize(settings) == count;
    for (const SearchSetting& setting : settings) whole = whole && setting.size() == search_.keys.size();
    if (whole) return settings;
  } catch (const Json::exception&) {
    // Reported below.
  }
  throw Error(fmt::format("Optuna gave no {} settings of {} keys: {:.200}", count, search_.keys.size(), answer.dump()));
}

}  // namespace xlm
