// Progress of long work.
#include "base/progress.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "base/text.h"

namespace xlm {
namespace {

constexpr double kRedrawInterval = 0.1;  // seconds, on a terminal

}  // namespace

double monotonic_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Progress::Progress(Settings settings, std::FILE* out, Terminal terminal, std::function<double()> clock)
    : settings_(std::move(settings)),
      out_(out),
      terminal_(terminal),
      clock_(std::move(clock)),
      began_(clock_()),
      last_drawn_(terminal.is_terminal ? began_ - kRedrawInterval : began_) {}

Progress::~Progress() { finish(); }

void Progress::start_at(double start) { start_ = start; }

std::string Progress::text(double done, const std::string& detail) const {
  const double elapsed = std::max(clock_() - began_, 1e-9);
  const double rate = (done - start_) / elapsed;
  const auto amount = [&](double value) { return settings_.bytes ? human_bytes(value) : human_count(value); };
  std::string line;
  if (settings_.total > 0) line += fmt::format(" {:3.0f} % ", 100 * std::clamp(done / settings_.total, 0.0, 1.0));
  line += " " + amount(done);
  if (settings_.total > 0) line += "/" + amount(settings_.total);
  if (!settings_.bytes) line += " " + settings_.unit;
  if (!detail.empty()) line += "  " + detail;
  if (rate > 0) {
    if (settings_.rate) {
      line += settings_.bytes ? fmt::format("  {}/s", human_bytes(rate))
                              : fmt::format("  {} {}/s", human_count(rate), settings_.unit);
    }
    if (settings_.total > done) line += "  " + human_duration((settings_.total - done) / rate) + " left";
  }
  return settings_.label + bar(done, settings_.label.size() + display_width(line)) + line;
}

/// The bar, as long as the line has room for it next to `taken` columns of text.
std::string Progress::bar(double done, std::size_t taken) const {
  const int room = terminal_.width - 2 - static_cast<int>(taken);
  const int cells = room >= 20 ? 20 : room >= 8 ? 8 : 0;
  if (!terminal_.is_terminal || settings_.total <= 0 || cells == 0) return "";
  const int full = static_cast<int>(std::clamp(done / settings_.total, 0.0, 1.0) * cells);
  std::string text = " ";
  for (int i = 0; i < cells; ++i) text += i < full ? "█" : "░";
  return text;
}

void Progress::update(double done, const std::string& detail) {
  if (settings_.quiet) return;
  const double now = clock_();
  const bool last =
      terminal_.is_terminal && settings_.total > 0 && done >= settings_.total;  // it may stay on the screen for long
  if (!last && now - last_drawn_ < (terminal_.is_terminal ? kRedrawInterval : settings_.plain_interval)) return;
  last_drawn_ = now;
  if (!terminal_.is_terminal) {
    say(text(done, detail) + "\n", out_);
  } else {
    const bool two = settings_.two_lines && !detail.empty();
    std::string lines = cut_to_line(terminal_, text(done, two ? "" : detail));
    if (two) lines += "\n" + cut_to_line(terminal_, std::string(settings_.label.size() + 1, ' ') + detail);
    clear();
    drawn_ = lines;
    say(drawn_, out_);
  }
}

/// Clears what is drawn and leaves the cursor at its beginning.
void Progress::clear() {
  if (drawn_.empty()) return;
  say(drawn_.find('\n') == std::string::npos ? "\r\033[K" : "\033[A\r\033[J", out_);
}

void Progress::note(const std::string& line) {
  if (settings_.quiet) return;
  clear();
  say(line + "\n" + drawn_, out_);
}

void Progress::finish() {
  clear();
  drawn_.clear();
}

}  // namespace xlm
