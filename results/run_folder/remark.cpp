// What people say of a run afterwards.
#include "results/run_folder/remark.h"

#include <string_view>

#include <fmt/format.h>

#include "base/error.h"
#include "results/run_folder/journal.h"
#include "results/run_folder/run_folder.h"

namespace xlm {
namespace {

void replace_if_later(std::pair<double, std::string>& present, double time, const Json& text) {
  if (time >= present.first) present = {time, text.get<std::string>()};
}

}  // namespace

void Remarks::add(const Json& record, double time) {
  if (const auto tag = record.find("tag"); tag != record.end()) {
    const bool given = record.value("given", true);
    const auto [place, is_new] = tags_.try_emplace(tag->get<std::string>(), time, given);
    if (!is_new && time >= place->second.first) place->second = {time, given};
  }
  if (const auto note = record.find("note"); note != record.end()) replace_if_later(note_, time, *note);
  if (const auto bad = record.find("bad"); bad != record.end()) replace_if_later(bad_, time, *bad);
}

std::vector<std::string> Remarks::tags() const {
  std::vector<std::string> names;
  for (const auto& [name, state] : tags_) {
    if (state.second) names.push_back(name);
  }
  return names;
}

std::string problem_of_tag(const std::string& tag) {
  constexpr std::string_view kSigns = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
  if (tag.empty()) return "a tag needs a name";
  if (tag == "null" || tag.find_first_not_of(kSigns) != std::string::npos) {
    return fmt::format("'{}' is no tag: it may have letters, digits, dots, dashes and underscores", tag);
  }
  return "";
}

void append_remark(const fs::path& run_folder, const Json& fields) {
  const fs::path journal = RunPaths{run_folder}.journal();
  if (!fs::exists(journal)) {
    throw DataError(fmt::format("{} has no journal that could take a remark\nsee `xlm runs ls`", run_folder.string()));
  }
  Journal(journal).append(kRemark, fields, true);
}

}  // namespace xlm
