// Talks to the scripts that read and write runs of other trackers.
#include "experiments/collections/foreign_runs.h"

#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/python_program.h"
#include "base/text.h"

namespace xlm {
namespace {

constexpr double kSecondsForARun = 3600;  // a store of many runs is read before the first of them

[[noreturn]] void refuse(const Json& answer) {
  const std::string error = answer.value("error", "");
  const std::string package = answer.value("package", "");
  if (answer.contains("usage")) throw UsageError(error);
  if (package.empty()) throw DataError(error);
  throw UsageError(fmt::format("{}\n{} -m pip install {}\nXLM_PYTHON=PROGRAM names another Python", error,
                               shell_word(python_program()), package));
}

Json ask_script(Dialogue& python, const Json& request) {
  const std::string text = python.ask(request.dump(), kSecondsForARun);
  Json answer = Json::parse(text, nullptr, false);
  if (!answer.is_object()) throw Error(fmt::format("{} answered no JSON: {:.200}", python_program(), first_line(text)));
  if (answer.contains("error")) refuse(answer);
  return answer;
}

std::vector<std::string> words_of(std::string_view script) {
  return {python_program(), "-B", "-c", std::string(script)};
}

}  // namespace

ForeignRuns::ForeignRuns(const Json& request) : python_(std::make_unique<Dialogue>(words_of(import_script()))) {
  ask(request);
}

Json ForeignRuns::ask(const Json& request) { return ask_script(*python_, request); }

fs::path write_for_tracker(const std::string& kind, const fs::path& place, const fs::path& tables,
                           const std::vector<std::string>& costs) {
  Dialogue python(words_of(export_script()));
  const Json request = {{"kind", kind}, {"place", place.string()}, {"tables", tables.string()}, {"costs", costs}};
  return ask_script(python, request).at("made").get<std::string>();
}

std::optional<Json> ForeignRuns::next() {
  Json run = ask("next");
  if (const auto warnings = run.find("warnings"); warnings != run.end()) {
    warnings_ = warnings->get<std::vector<std::string>>();
    return std::nullopt;
  }
  for (bool more = run.value("more", false); more;) {  // a long run comes in several lines
    Json part = ask("next");
    for (Json& numbers : part.at("numbers")) run["numbers"].push_back(std::move(numbers));
    more = part.value("more", false);
  }
  return run;
}

}  // namespace xlm
