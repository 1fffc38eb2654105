// Continuations of passages, side by side.
#include "results/exhibits/continuations.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/terminal.h"
#include "base/text.h"
#include "results/store/run_list.h"
#include "results/store/shown_runs.h"

namespace xlm {
namespace {

constexpr std::size_t kShownPrompt = 400;  // bytes from a prompt's end

/// The newest trained run of a row, or why there is none.
ContinuingModel find_model(RunTable& runs, const ContinuationDescription::Row& row, std::vector<Filter> filters,
                           std::vector<std::string>& notes) {
  filters = with_conditions(std::move(filters), row.where);
  ContinuingModel model{.label = row.label, .run = "", .missing = ""};
  std::size_t done = 0;
  std::size_t found = 0;
  for (const std::size_t place : shown_among(runs, newest_first(runs, filters), filters).rows) {
    if (place >= runs.size()) continue;  // an evaluation of a run that is listed itself
    ++found;
    if (to_text(runs.column("status")[place]) != "done") continue;
    if (++done == 1) model.run = runs.id(place);
  }
  if (done == 0) model.missing = found == 0 ? "no run yet" : fmt::format("none of {} runs is done", found);
  if (done > 1) {
    notes.push_back(
        fmt::format("{}: {}, the newest of {} runs; choose another with `where`", row.label, model.run, done));
  }
  return model;
}

void check_same_data(RunTable& runs, const Continuations& found) {
  std::set<std::string> names;
  std::set<std::string> fingerprints;
  for (const ContinuingModel& model : found.models) {
    if (model.run.empty()) continue;
    const std::vector<Filter> of_run{{"run_id", Filter::Relation::kEqual, {model.run}}};
    const std::vector<std::size_t> places = runs.select(of_run);
    names.merge(runs.texts_in(places, "data.name"));
    fingerprints.merge(runs.texts_in(places, "data.fingerprint"));
  }
  if (fingerprints.size() < 2) return;
  throw UsageError(
      fmt::format("{}: '{}' has runs on different data ({}), so they cannot share prompts\n"
                  "choose one with `where: {{data.name: …}}`",
                  found.description.place, found.description.title, join({names.begin(), names.end()}, ", ")));
}

std::string one_line(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool blank = c == ' ' || (c >= '\t' && c <= '\r');
    if (!blank) {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  return std::string(trim(out));
}

std::string text_form(const Continuations& continuations) {
  std::string out = continuations.description.title + "\n";
  std::size_t widest = 0;
  for (const ContinuingModel& model : continuations.models) widest = std::max(widest, display_width(model.label));
  for (const ContinuedPassage& passage : continuations.passages) {
    out += fmt::format("\n{}\n  {}\n\n", place_text(continuations, passage), prompt_end(passage.prompt));
    for (std::size_t i = 0; i < continuations.models.size(); ++i) {
      const ContinuingModel& model = continuations.models[i];
      const std::string pad(widest - display_width(model.label), ' ');
      out += fmt::format("  {}{}  {}\n", model.label, pad,
                         model.run.empty() ? "– (" + model.missing + ")" : one_line(passage.texts[i]));
    }
  }
  for (const std::string& note : continuations.notes) out += "\n" + note + "\n";
  return out;
}

}  // namespace

std::variant<Continuations, NothingToShow> find_models(RunTable& runs, const ContinuationDescription& description,
                                                       const std::vector<Filter>& filters) {
  Continuations found{.description = description, .models = {}, .passages = {}, .notes = {}};
  const std::vector<Filter> all = with_conditions(filters, description.where);
  for (const ContinuationDescription::Row& row : description.rows) {
    found.models.push_back(find_model(runs, row, all, found.notes));
  }
  const bool any = std::ranges::any_of(found.models, [](const ContinuingModel& model) { return !model.run.empty(); });
  if (!any) {
    const std::string reason = fmt::format("no run of '{}' is done", description.title);
    return NothingToShow{description.title, reason, reason + "\nto list the runs: xlm runs ls"};
  }
  check_same_data(runs, found);
  return found;
}

std::string place_text(const Continuations& continuations, const ContinuedPassage& passage) {
  const ContinuationDescription& description = continuations.description;
  return fmt::format("{} split, document {}, tokens {} to {}", description.split, passage.place.document,
                     passage.place.first, passage.place.first - 1 + description.prompt_tokens);
}

std::string prompt_end(const std::string& prompt) {
  std::string line = one_line(prompt);
  if (line.size() <= kShownPrompt) return line;
  const std::size_t blank = line.find(' ', line.size() - kShownPrompt);
  std::size_t begin = blank == std::string::npos ? line.size() - kShownPrompt : blank + 1;
  while ((static_cast<unsigned char>(line[begin]) & 0xC0U) == 0x80U) ++begin;  // not in the middle of a character
  return "… " + line.substr(begin);
}

std::string continuations_text(const std::vector<Continuations>& all) {
  std::vector<std::string> texts;
  for (const Continuations& one : all) texts.push_back(text_form(one));
  return join(texts, "\n");
}

Json to_json(const Continuations& continuations) {
  const ContinuationDescription& description = continuations.description;
  Json models = Json::array();
  for (const ContinuingModel& model : continuations.models) {
    models.push_back({{"label", model.label},
                      {"run", model.run.empty() ? Json() : Json(model.run)},
                      {"missing", model.missing.empty() ? Json() : Json(model.missing)}});
  }
  Json passages = Json::array();
  for (const ContinuedPassage& passage : continuations.passages) {
    Json texts = Json::object();
    for (std::size_t i = 0; i < continuations.models.size(); ++i) {
      if (!continuations.models[i].run.empty()) texts[continuations.models[i].label] = passage.texts[i];
    }
    passages.push_back({{"document", passage.place.document},
                        {"first", passage.place.first},
                        {"prompt", passage.prompt},
                        {"continuations", std::move(texts)}});
  }
  return {{"continuation", description.title}, {"name", description.name},
          {"split", description.split},        {"prompt_tokens", description.prompt_tokens},
          {"tokens", description.tokens},      {"models", std::move(models)},
          {"passages", std::move(passages)},   {"notes", continuations.notes}};
}

}  // namespace xlm
