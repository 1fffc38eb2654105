// Patterns over a program's output.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "base/utf8.h"
#include "experiments/programs/last_output.h"
#include "experiments/programs/line_pattern.h"
#include "experiments/programs/metric_reader.h"
#include "experiments/programs/number_text.h"
#include "experiments/programs/program_log.h"
#include "experiments/programs/shown_line.h"

namespace xlm {
namespace {

constexpr std::size_t kLongestOutputLine = std::size_t{1} << 16;  // of a longer one the rest is passed over
constexpr std::size_t kKeptLines = 5;                             // for a warning
constexpr std::size_t kKeptOfOutput = 320;                        // of each
constexpr std::size_t kListedPatterns = 3;

class OutputReader : public MetricReader {
 public:
  OutputReader(const std::vector<MetricDescription>& lines, fs::path log, ProgramRecords& records)
      : log_(std::move(log)), records_(records) {
    for (const MetricDescription& one : lines) patterns_.emplace_back(LinePattern(one.target), one.thousands);
  }

  void begin(const Json& position) override {
    if (!position.is_object()) return;
    if (position.contains("step")) step_ = position["step"].get<std::int64_t>();
    left_ = position.value("log", log_.empty() ? Json() : begin_of_log());
  }

  void begin_again() override {
    if (!log_.empty()) left_ = begin_of_log();
  }

  /// What an earlier attempt said behind its position: its worker was killed.
  void poll() override {
    if (left_.is_null()) return;
    reads_again_ = true;
    read_log_behind(log_, std::exchange(left_, Json()), [this](std::string_view bytes) { output(bytes); });
    pending_.clear();  // a line without an end may be a part of one
    pending_bytes_ = 0;
    reads_again_ = false;
    lines_ = 0;
  }

  Json position() const override {
    Json position = Json::object();
    if (!log_.empty()) position["log"] = end_of_log(log_, pending_bytes_);
    if (step_) position["step"] = *step_;
    return position;
  }

  /// A carriage return ends a line, too: so each state of a progress bar is a line.
  void output(std::string_view bytes) override {
    ++pieces_;
    steps_before_ = std::exchange(steps_now_, records_.changes_of_step());
    std::size_t begin = 0;
    std::size_t line_feed = bytes.find('\n');
    std::size_t carriage_return = bytes.find('\r');
    while (begin < bytes.size()) {
      if (line_feed < begin) line_feed = bytes.find('\n', begin);
      if (carriage_return < begin) carriage_return = bytes.find('\r', begin);
      const std::size_t end = std::min(line_feed, carriage_return);
      const std::string_view part = bytes.substr(begin, end - begin);
      const bool is_whole = end != std::string_view::npos;
      if (!is_whole) pending_bytes_ += part.size();
      if (!is_whole || !pending_.empty()) {
        pending_ += part.substr(0, kLongestOutputLine - std::min(kLongestOutputLine, pending_.size()));
      }
      if (!is_whole) return;
      line(pending_.empty() ? part : pending_);
      pending_.clear();
      pending_bytes_ = 0;
      if (end == line_feed) ++lines_;
      begin = end + 1;
    }
  }

  void finish(bool /*is_done*/) override {
    line(pending_);
    pending_.clear();
    pending_bytes_ = 0;
  }

  bool is_whole() const override {
    return kept_count_ > 0 && passed_again_ == 0 && !fs::exists(ProgramLog::older_end_file(log_));
  }

  void output_is_told() override { is_output_told_ = true; }

  std::vector<std::string> never_came() const override {
    std::vector<std::string> patterns;
    for (const Pattern& pattern : patterns_) {
      if (pattern.matches == 0) patterns.push_back(fmt::format("'{}'", pattern.expression.text()));
    }
    if (patterns.empty()) return {};
    return {"no line of the output fits " + listed_names(patterns, kListedPatterns)};
  }

  std::vector<std::string> warnings() const override {
    std::vector<std::string> warnings;
    for (const Pattern& pattern : patterns_) {
      if (pattern.matches == 0) warnings.push_back(warning_of(pattern));
    }
    if (without_step_ > 0 && unsure_ == 0 && warnings.empty()) {
      warnings.push_back(fmt::format(
          "{} numbers of the output came before any step, and belong to step 0\na pattern with (?<step>…) says it",
          without_step_));
    }
    return warnings;
  }

  std::vector<std::string> doubts() const override {
    if (unsure_ == 0) return {};
    return {
        fmt::format("{} lines of the output have no step, and several steps of a file came with them: their numbers "
                    "may belong to an earlier step than shown\na pattern with (?<step>…) says it",
                    unsure_)};
  }

 private:
  struct Pattern {
    Pattern(LinePattern of, char sign) : expression(std::move(of)), thousands(sign) {}

    /// What a group holds, as a number is written elsewhere.
    std::optional<std::string> plain(std::string_view group) const {
      return thousands == 0 ? std::string(group) : without_thousands(group, thousands);
    }

    LinePattern expression;
    char thousands = 0;
    std::vector<ProgramRecords::Name*> names = {};  // by group; null: the step
    std::int64_t matches = 0;
    std::int64_t piece = 0;  // the last that had a line of it
  };

  void line(std::string_view text) {
    if (text.empty()) return;
    text = text.substr(0, kLongestOutputLine);
    const bool is_plain = std::none_of(text.begin(), text.end(), [](char c) { return (c & 0x80) != 0 || c == '\x1b'; });
    if (!is_plain) {
      plain_ = repaired_utf8(without_escapes(text));
      text = plain_;
    }
    kept_[kept_count_++ % kKeptLines].assign(text.substr(0, kKeptOfOutput));
    for (Pattern& pattern : patterns_) {
      if (pattern.expression.match(text, groups_)) use(pattern, text);
    }
  }

  void use(Pattern& pattern, std::string_view text) {
    const std::vector<std::string>& names = pattern.expression.names();
    const LinePlace place{output_name(), lines_ + 1};
    records_.reading(place);
    if (pattern.matches++ == 0) {
      for (const std::string& name : names)
        pattern.names.push_back(name == kStepGroup ? nullptr : records_.name(name, place));
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == kStepGroup && groups_[i].data() != nullptr) take_step(pattern, groups_[i], place, text);
    }
    const std::int64_t step = step_.value_or(records_.newest_step());
    // Several steps of another source came together with this line, or several such lines with one step.
    const bool is_sure = step_ || !records_.has_seen_step() || reads_again_ ||
                         (steps_now_ - steps_before_ <= 1 && pattern.piece != pieces_);
    if (!is_sure) ++unsure_;
    pattern.piece = pieces_;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (pattern.names[i] == nullptr || groups_[i].data() == nullptr) continue;
      const std::optional<std::string> plain = pattern.plain(groups_[i]);
      const std::optional<double> number = plain ? printed_count(*plain) : std::nullopt;
      if (!number) {
        const std::string remedy = pattern.thousands == 0 ? thousands_remedy(groups_[i]) : "";
        records_.fault(place, no_number(names[i], groups_[i]) + remedy, text);
        continue;
      }
      if (reads_again_ && !step_ && records_.has_seen_step()) {  // its step was that of another source
        ++passed_again_;
        continue;
      }
      if (!records_.has_seen_step() && pattern.names[i]->place.kind != QuantityPlace::Kind::kRun) ++without_step_;
      records_.number(*pattern.names[i], step, *number, place);
    }
  }

  void take_step(const Pattern& pattern, std::string_view group, const LinePlace& place, std::string_view text) {
    const std::optional<std::string> plain = pattern.plain(group);
    const std::optional<double> number = plain ? printed_number(*plain) : std::nullopt;
    const std::optional<std::int64_t> step = number ? whole_step(*number) : std::nullopt;
    if (!step) {
      const std::string remedy = pattern.thousands == 0 ? thousands_remedy(group) : "";
      return records_.fault(place, no_step(kStepGroup, group) + remedy, text);
    }
    step_ = step;
    records_.seen_step(*step);
  }

  std::string warning_of(const Pattern& pattern) const {
    std::string warning = fmt::format("no line of the output fits the pattern '{}'", pattern.expression.text());
    if (kept_count_ == 0) return warning + "\nthere was no output";
    if (is_output_told_) return warning;
    warning += "\nthe last lines were:";
    for (std::size_t i = kept_count_ - std::min(kept_count_, kKeptLines); i < kept_count_; ++i) {
      warning += "\n  " + shown_line(kept_[i % kKeptLines]);
    }
    return warning;
  }

  static constexpr std::string_view kStepGroup = "step";
  static const std::string& output_name() {
    static const std::string name = "output";
    return name;
  }

  fs::path log_;
  Json left_;                      // the place in the log up to which an earlier attempt has read
  bool reads_again_ = false;       // what is behind it
  std::int64_t pieces_ = 0;        // of output
  std::int64_t steps_before_ = 0;  // of all sources, before the last piece but one
  std::int64_t steps_now_ = 0;     // and before the last piece
  std::int64_t unsure_ = 0;        // lines without a step
  std::int64_t passed_again_ = 0;  // numbers that cannot be read again
  ProgramRecords& records_;
  std::vector<Pattern> patterns_;
  std::vector<std::string_view> groups_;
  bool is_output_told_ = false;
  std::string pending_;              // of a line without an end so far
  std::uint64_t pending_bytes_ = 0;  // all of them
  std::string plain_;
  std::int64_t lines_ = 0;
  std::optional<std::int64_t> step_;
  std::int64_t without_step_ = 0;
  std::array<std::string, kKeptLines> kept_;  // the newest lines, in a ring
  std::size_t kept_count_ = 0;
};

}  // namespace

std::unique_ptr<MetricReader> make_output_reader(const std::vector<MetricDescription>& lines, const fs::path& log,
                                                 ProgramRecords& records) {
  return std::make_unique<OutputReader>(lines, log, records);
}

}  // namespace xlm
