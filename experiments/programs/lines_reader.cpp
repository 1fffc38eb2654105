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

std::vector<std::string> LinesReader::warnings_of(const ForeignColumns& columns, std::string_view why) const {
  if (!file_.was_seen()) return {fmt::format("{} was never there", file_.path().string())};
  std::vector<std::string> warnings = columns.warnings(name_);
  if (passed_over_ > 0) {
    warnings.push_back(fmt::format("{}: {} lines {}, and were passed over; the first is line {}", name_, passed_over_,
                                   why, first_passed_over_));
  }
  return warnings;
}

}  // namespace xlm
