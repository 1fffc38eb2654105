// Code of a program that is in no copy.
#include "experiments/worker/outside_code.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/lookup.h"
#include "base/sha256.h"
#include "base/text.h"
#include "experiments/configuration/program_inputs.h"

namespace xlm {
namespace {

/// In the place of a file's name: Python ran without the hook, as `python3 -I` does.
constexpr const char* kUnseen = "imports that were not seen";

bool is_edited(const fs::path& file, const std::string& hash) {
  std::error_code ignored;
  return fs::is_regular_file(file, ignored) && sha256_file(file) != hash;
}

}  // namespace

OutsideCode::OutsideCode(const Run& run, const ProgramPaths& paths, JournalSink& sink)
    : run_(run),
      paths_(paths),
      sink_(sink),
      list_(frozen_programs(paths.folder.parent_path()) /
            fmt::format("outside-{}.jsonl", run.contents.at("program.folder"))) {}

/// The newest line of a file counts. Runs that were removed do not.
OutsideFiles OutsideCode::used_by_others() const {
  OutsideFiles used;
  std::error_code ignored;
  if (!fs::exists(list_, ignored)) return used;
  for (const std::string& text : split(read_file(list_), '\n')) {
    const std::optional<Json> line = parse_json_if_any(text);
    try {
      if (!line || line->at("experiment") != run_.experiment) continue;
      if (!fs::exists(paths_.folder.parent_path() / line->at("run").get<std::string>(), ignored)) continue;
      used[line->at("file").get<std::string>()] = line->at("sha256").get<std::string>();
    } catch (const Json::exception&) {
      continue;  // a line of something else
    }
  }
  return used;
}

void OutsideCode::check(bool anyway) {
  for (const auto& [file, hash] : used_by_others()) {
    if (!is_edited(file, hash)) continue;
    if (anyway) {
      sink_.message(fmt::format("warning: {} was edited since other runs used it, as --anyway says", file));
      continue;
    }
    throw UsageError(fmt::format(
        "{} was edited, and it is no part of the frozen code: other runs of the experiment {} used it as it "
        "was, under the same program.fingerprint\nrestore it, let program.folder and program.code include "
        "it, or say --anyway: program.not_frozen then tells the runs apart",
        file, run_.experiment));
  }
}

void OutsideCode::begin(const fs::path& folder, ProgramSetting& setting) {
  lay_import_hook(folder, paths_.work(), setting.environment);
  record(named_outside(setting.words, {paths_.folder, setting.places.at("data.path")}));
}

void OutsideCode::look() {
  if (const std::optional<OutsideFiles> files = reported_imports(paths_.work())) record(*files);
}

void OutsideCode::finish(bool has_python) {
  look();
  if (has_python && !reported_imports(paths_.work())) record({{kUnseen, ""}});
}

void OutsideCode::record(const OutsideFiles& files) {
  OutsideFiles fresh;
  for (const auto& file : files) {
    if (known_.insert(file).second) fresh.insert(file);
  }
  if (fresh.empty()) return;
  sink_.outside_code(fresh);
  sink_.message(fmt::format("warning: code not frozen: {}", not_frozen_text(fresh)));
  try {
    const OutsideFiles listed = used_by_others();
    for (const auto& [file, hash] : fresh) {
      if (value_or(listed, file, "") == hash) continue;
      AppendFile(list_).append(
          Json{{"experiment", run_.experiment}, {"run", run_.id}, {"file", file}, {"sha256", hash}}.dump());
    }
  } catch (const Error& error) {
    sink_.log(fmt::format("other runs will not notice its edits: {}", error.what()));  // a folder of others
  }
}

}  // namespace xlm
