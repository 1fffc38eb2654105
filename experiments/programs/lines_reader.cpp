// A reader of one file of lines.
#include "experiments/programs/lines_reader.h"

#include <fmt/format.h>

namespace xlm {

std::optional<std::int64_t> LinesReader::begin_file(const Json& position) {
  file_.begin(position.is_object() ? position.value("file", Json::object()) : Json());
  if (!position.is_object() || !position.contains("step")) return std::nullopt;
  return position["step"].get<std::int64_t>();
}

Json LinesReader::position_with_step(const std::optional<std::int64_t>& step) const {
  Json position = {{"file", file_.position()}};
  if (step) position["step"] = *step;
  return position;
}

std::vector<std::string> LinesReader::never_came() const {
  if (file_.was_seen()) return {};
  return {name_ + " was never there"};
}

void LinesReader::pass_over(std::int64_t number) {
  if (passed_over_++ == 0) first_passed_over_ = number;
}

std::vector<std::string> LinesReader::doubts() const {
  if (passed_over_ == 0) return {};
  return {fmt::format("{}: {} lines {}, and were passed over; the first is line {}", name_, passed_over_, why_,
                      first_passed_over_)};
}

std::vector<std::string> LinesReader::doubts_of(const ForeignColumns& columns) const {
  std::vector<std::string> doubts = LinesReader::doubts();
  for (std::string& doubt : columns.doubts(name_)) doubts.push_back(std::move(doubt));
  return doubts;
}

std::vector<std::string> LinesReader::warnings_of(const ForeignColumns& columns) const {
  if (!file_.was_seen()) return {fmt::format("{} was never there", file_.path().string())};
  return columns.warnings(name_);
}

}  // namespace xlm
