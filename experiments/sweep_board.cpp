// What a sweep shows while it runs.
#include "experiments/sweep_board.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace xlm {
namespace {

constexpr std::size_t kTailBytes = 1 << 16;
constexpr double kRedrawInterval = 0.5;  // seconds, on a terminal

double number_at(const Json& object, const char* key) {
  return object.is_object() && object.contains(key) && object[key].is_number() ? object[key].get<double>() : 0;
}

/// Cut to the terminal's width, so that a line stays a line.
std::string fitted(std::string line, int width) {
  while (display_width(line) >= static_cast<std::size_t>(std::max(width, 10))) {
    do {
      line.pop_back();
    } while (!line.empty() && (static_cast<unsigned char>(line.back()) & 0xC0U) == 0x80U);
  }
  return line;
}

}  // namespace

Json last_metric(const fs::path& journal) {
  if (!fs::is_regular_file(journal)) return nullptr;
  const MappedFile file(journal);
  std::string_view text = file.text();
  if (text.size() > kTailBytes) text.remove_prefix(text.size() - kTailBytes);
  while (!text.empty()) {
    const std::size_t end = text.find_last_of('\n');
    if (end == std::string_view::npos) break;
    text = text.substr(0, end);
    const std::size_t begin = text.find_last_of('\n') + 1;  // npos + 1 is 0
    const std::string_view line = text.substr(begin);
    if (line.find("\"metric\"") != std::string_view::npos) {
      Json record = Json::parse(line, nullptr, false);
      if (record.is_object() && record.value("type", "") == "metric") return record;
    }
    text = text.substr(0, begin);
  }
  return nullptr;
}

SweepBoard::SweepBoard(Settings settings) : settings_(std::move(settings)), began_(settings_.clock()), last_(began_) {}

SweepBoard::~SweepBoard() { clear(); }

void SweepBoard::clear() {
  if (lines_ > 0) fmt::print(settings_.out, "\033[{}A\r\033[J", lines_);
  lines_ = 0;
}

std::string SweepBoard::run_line(const Running& run) {
  const std::string id = run.folder.filename().string();
  const Json metric = last_metric(RunPaths{run.folder}.journal());
  if (metric.is_null()) return id + "  starting";
  const Json values = metric.contains("values") ? metric["values"] : Json::object();
  const double step = number_at(metric, "step");
  const double time = number_at(metric, "time");
  const Seen first = first_.try_emplace(id, Seen{step, time}).first->second;
  std::string line = fmt::format("{}  step {}/{}", id, human_count(step), human_count(static_cast<double>(run.steps)));
  if (values.contains("bpc")) line += fmt::format("  {:.3f} bpc", number_at(values, "bpc"));
  if (values.contains("average_span")) line += fmt::format("  span {:.0f}", number_at(values, "average_span"));
  if (time > first.time && step > first.step) {
    const double rate = (step - first.step) / (time - first.time);
    line += fmt::format("  {} left", human_duration((static_cast<double>(run.steps) - step) / rate));
  }
  return line;
}

void SweepBoard::update(const Counts& counts, const std::vector<Running>& running) {
  if (settings_.out == nullptr) return;
  const double now = settings_.clock();
  if (now - last_ < (settings_.terminal.is_terminal ? kRedrawInterval : settings_.plain_interval)) return;
  last_ = now;
  std::vector<std::string> parts{fmt::format("{} of {} runs ended", counts.ended, counts.total)};
  if (counts.failed > 0) parts.push_back(fmt::format("{} failed", counts.failed));
  if (!running.empty()) parts.push_back(fmt::format("{} running", running.size()));
  if (counts.elsewhere > 0) parts.push_back(fmt::format("waiting for {} of another sweep", counts.elsewhere));
  parts.push_back(human_duration(now - began_));
  std::vector<std::string> lines{join(parts, ", ")};
  for (const Running& run : running) lines.push_back(run_line(run));
  if (settings_.terminal.is_terminal) {
    clear();
    for (const std::string& line : lines) fmt::print(settings_.out, "{}\n", fitted(line, settings_.terminal.width));
    lines_ = lines.size();
  } else {
    fmt::print(settings_.out, "{}\n", join(lines, "; "));
  }
  std::fflush(settings_.out);
}

void SweepBoard::note(const std::string& line) {
  if (settings_.out == nullptr) return;
  clear();
  fmt::print(settings_.out, "{}\n", line);
  std::fflush(settings_.out);
}

}  // namespace xlm
