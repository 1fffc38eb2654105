// Patterns over a program's output.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
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
#include "experiments/programs/quantity_name.h"
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
    attempts_ = Json::array();
    if (position.is_object()) {
      if (position.contains("step")) step_.set(position["step"].get<std::int64_t>(), records_.attempt());
      left_ = position.value("log", log_.empty() ? Json() : begin_of_log());
      attempts_ = position.value(kAttempts, attempts_);
    }
    if (!log_.empty()) attempts_.push_back(end_of_log(log_, 0));
  }

  void begin_again(const Json& position) override {
    attempts_ = position.is_object() ? position.value(kAttempts, Json::array()) : Json::array();
    if (!log_.empty()) left_ = attempts_.empty() ? begin_of_log() : attempts_.front();
    reads_all_ = true;
  }

  /// What earlier attempts said behind a position: a worker was killed, or all is read again.
  void poll() override { read_left(0); }

  void read_to(std::size_t attempt, const Json& /*place*/) override {
    if (attempt < attempts_.size()) read_left(bytes_behind(log_, attempts_[attempt]));
    drop_pending();
  }

  Json position() const override {
    Json position = Json::object();
    if (!log_.empty()) {
      position["log"] = end_of_log(log_, pending_bytes_);
      position[kAttempts] = attempts_;
    }
    if (const auto step = step_.last()) position["step"] = *step;
    return position;
  }

  void output(std::string_view bytes) override {
    if (std::exchange(is_pending_left_, false)) drop_pending();
    feed(bytes);
  }

  /// The last line of a program that ended by itself may have no end, also where all is read again.
  void finish(bool is_done) override {
    if (is_pending_left_ && !(is_done && reads_all_)) drop_pending();
    line(pending_);
    drop_pending();
    if (last_unread_ && lines_at_unread_ == records_.lines()) last_unread_();
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
    std::vector<std::string> doubts;
    if (unsure_ > 0) {
      doubts.push_back(
          fmt::format("{} lines of the output have no step, and several steps of a file came with them: their numbers "
                      "may belong to an earlier step than shown\na pattern with (?<step>…) says it",
                      unsure_));
    }
    if (early_ > 0 && !records_.is_before_first_step()) {
      doubts.push_back(
          fmt::format("{} of the output came before any step of a resumed attempt: the first belongs to step {}, or "
                      "to another one\na pattern with (?<step>…) says it",
                      counted(static_cast<std::size_t>(early_), "number"), early_step_));
    }
    if (unread_count_ > 0) {
      doubts.push_back(fmt::format("{} of the output could not be read, first {}",
                                   counted(static_cast<std::size_t>(unread_count_), "number"), unread_));
    }
    for (const auto& [name, doubt] : cut_) doubts.push_back(doubt);
    for (const auto& [names, doubt] : taken_twice_) doubts.push_back(doubt);
    if (!unfit_.empty()) doubts.push_back(unfit_);
    return doubts;
  }

 private:
  void drop_pending() {
    pending_.clear();
    pending_bytes_ = 0;
  }

  /// A carriage return ends a line, too: so each state of a progress bar is a line.
  void feed(std::string_view bytes) {
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
      drop_pending();
      if (end == line_feed) ++lines_;
      begin = end + 1;
    }
  }

  /// Reads what is left of the log, but for its last bytes.
  void read_left(std::uint64_t behind) {
    if (!left_.is_null()) {
      text_.clear();
      read_log_behind(log_, std::exchange(left_, Json()), [&](std::string_view bytes) { text_ += bytes; });
      text_begin_ = 0;
      reads_again_ = true;
    }
    if (!reads_again_) return;
    const std::size_t end = text_.size() - std::min<std::uint64_t>(behind, text_.size());
    if (end > text_begin_) {
      feed(std::string_view(text_).substr(text_begin_, end - text_begin_));
      is_pending_left_ = true;
      text_begin_ = end;
    }
    if (behind > 0) return;
    text_.clear();
    reads_again_ = false;
    if (!reads_all_) lines_ = 0;
  }

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
    const bool is_plain = std::ranges::none_of(text, [](char c) { return (c & 0x80) != 0 || c == '\x1b'; });
    if (!is_plain) {
      plain_ = repaired_utf8(without_escapes(text));
      text = plain_;
    }
    kept_[kept_count_++ % kKeptLines].assign(text.substr(0, kKeptOfOutput));
    taken_.clear();
    for (Pattern& pattern : patterns_) {
      if (pattern.expression.match(text, groups_) || is_not_finite(pattern, text)) use(pattern, text);
    }
  }

  /// Whether a pattern for digits, as `[\d.]+`, stands before "nan" or "inf", which is the number then. Before another
  /// number that it does not take, as "-0.5", its last number is an old one.
  bool is_not_finite(const Pattern& pattern, std::string_view text) {
    if (!pattern.expression.match_any_text(text, groups_)) return false;
    bool is_any = false;
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      if (groups_[i].data() == nullptr) continue;
      const std::optional<double> number = number_in(pattern, groups_[i]);
      const bool is_step = pattern.expression.names()[i] == kStepGroup;
      if (!number || (is_step && !std::isfinite(*number))) return false;
      is_any = is_any || !std::isfinite(*number);
    }
    if (!is_any && unfit_.empty()) {
      unfit_ = fmt::format("a number does not fit the pattern '{}' (output:{}: {}), so it was not read: \\S+ takes any",
                           pattern.expression.text(), lines_ + 1, shown_line(text));
    }
    return is_any;
  }

  void use(Pattern& pattern, std::string_view text) {
    const std::vector<std::string>& names = pattern.expression.names();
    const LinePlace place{output_name(), lines_ + 1};
    records_.reading(place);
    if (pattern.matches++ == 0) {
      for (const std::string& name : names)
        pattern.names.push_back(name == kStepGroup ? nullptr : records_.name(quantity_of_group(name), place));
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] != kStepGroup || groups_[i].data() == nullptr) continue;
      note_doubts(pattern, i, text, place);
      if (!take_step(pattern, groups_[i], place, text)) return;
    }
    const std::optional<std::int64_t> own = step_.in(records_.attempt());
    const std::int64_t step = own.value_or(records_.newest_step());
    const bool is_early = !own && records_.is_before_first_step();
    // Several steps of another source came together with this line, or several such lines with one step.
    const bool is_sure = own || is_early || !records_.has_seen_step() || reads_again_ ||
                         (steps_now_ - steps_before_ <= 1 && pattern.piece != pieces_);
    if (!is_sure) ++unsure_;
    pattern.piece = pieces_;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (pattern.names[i] == nullptr || groups_[i].data() == nullptr) continue;
      const std::optional<double> number = number_in(pattern, groups_[i]);
      if (!number) {
        const std::string remedy = groups_[i].ends_with("%") ? "\nin the pattern, write the % behind the group"
                                   : pattern.thousands == 0  ? thousands_remedy(groups_[i])
                                                             : "";
        note_unread(*pattern.names[i], place, no_number(names[i], groups_[i]) + remedy, text);
        continue;
      }
      if (reads_again_ && !own && !is_early && records_.has_seen_step()) {  // its step was that of another source
        ++passed_again_;
        continue;
      }
      if (!records_.has_seen_step() && pattern.names[i]->place.kind != QuantityPlace::Kind::kRun) ++without_step_;
      if (is_early && pattern.names[i]->place.kind != QuantityPlace::Kind::kRun) {
        if (++early_ == 1) early_step_ = step;
      }
      note_doubts(pattern, i, text, place);
      records_.number(*pattern.names[i], step, *number, place);
    }
  }

  /// Lines of several processes run together, and a value may be missing once. A name that never has a number is wrong.
  void note_unread(const ProgramRecords::Name& name, const LinePlace& place, const std::string& what,
                   std::string_view text) {
    if (unread_.empty()) unread_ = fmt::format("{}: {}", place.text(), first_line(what));
    last_unread_ = [this, line = place.line, what, text = std::string(text)] {
      records_.fault({output_name(), line}, what, text, true);
    };
    lines_at_unread_ = records_.lines();
    constexpr int kFewest = 3;
    if (++unread_count_ >= kFewest && !name.step) last_unread_();
  }

  static std::optional<double> number_in(const Pattern& pattern, std::string_view group) {
    for (const std::string_view text : {group, without_marks_behind(group)}) {
      const std::optional<std::string> plain = pattern.plain(text);
      if (const auto number = plain ? printed_count(*plain) : std::nullopt) return number;
    }
    return std::nullopt;
  }

  /// A group may end before its number does, and a pattern for one name may fit where another one stands.
  void note_doubts(const Pattern& pattern, std::size_t i, std::string_view text, const LinePlace& place) {
    const std::string_view group = groups_[i];
    const std::string& name = pattern.expression.names()[i];
    if (pattern.thousands == 0 && !cut_.contains(name)) {
      const std::string_view whole = number_around(text, group);
      // "10,250" may be two numbers, which two groups take.
      const auto is_of_another = [&](std::string_view other) {
        return other.data() != group.data() && other.data() != nullptr && other.data() < whole.data() + whole.size() &&
               other.data() + other.size() > whole.data();
      };
      if (!whole.empty() && std::ranges::none_of(groups_, is_of_another)) {
        cut_[name] = fmt::format("'{}' took '{}' of '{}' ({}): let its pattern take all of a number, as \\S+ does",
                                 name, group, whole, place.text());
      }
    }
    if (name == kStepGroup) return;
    for (const auto& [begin, other] : taken_) {
      if (begin != group.data() || *other == name) continue;
      std::string& doubt = taken_twice_[{*other, name}];
      if (!doubt.empty()) continue;
      doubt = fmt::format("'{}' and '{}' took the same number ({}): let each pattern say what stands before it", *other,
                          name, place.text());
    }
    taken_.emplace_back(group.data(), &name);
  }

  bool take_step(const Pattern& pattern, std::string_view group, const LinePlace& place, std::string_view text) {
    const std::optional<std::string> plain = pattern.plain(without_marks_behind(group));
    const std::optional<double> number = plain ? printed_number(*plain) : std::nullopt;
    const std::optional<std::int64_t> step = number ? whole_step(*number) : std::nullopt;
    if (!step) {
      const std::string remedy = pattern.thousands == 0 ? thousands_remedy(group) : "";
      records_.fault(place, no_step(kStepGroup, group) + remedy, text);
      return false;
    }
    step_.set(step, records_.attempt());
    records_.seen_step(*step);
    return true;
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
  static constexpr const char* kAttempts = "attempts";
  static const std::string& output_name() {
    static const std::string name = "output";
    return name;
  }

  fs::path log_;
  Json left_;                 // the place in the log up to which an earlier attempt has read
  bool reads_again_ = false;  // what is behind it
  std::string text_;          // that, up to which it is read
  std::size_t text_begin_ = 0;
  Json attempts_ = Json::array();  // places in the log where this attempt, and those that it continues, begin
  std::vector<std::pair<const char*, const std::string*>> taken_;  // numbers of the line, and their names
  std::string unread_;                                             // the first number that is none
  int unread_count_ = 0;
  std::function<void()> last_unread_;  // says that it is wrong
  std::int64_t lines_at_unread_ = 0;
  std::string unfit_;                       // the first line with a number that its pattern does not take
  std::map<std::string, std::string> cut_;  // by name: the first number that it took a part of
  std::map<std::pair<std::string, std::string>, std::string> taken_twice_;  // by two names: the first that both took
  std::int64_t pieces_ = 0;                                                 // of output
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
  bool is_pending_left_ = false;     // it is of the log: a line without an end may be a part of one
  bool reads_all_ = false;           // again, from the beginning
  std::string plain_;
  std::int64_t lines_ = 0;
  SourceStep step_;
  std::int64_t without_step_ = 0;
  std::int64_t early_ = 0;                    // numbers without a step, before the first of a resumed attempt
  std::int64_t early_step_ = 0;               // of the first
  std::array<std::string, kKeptLines> kept_;  // the newest lines, in a ring
  std::size_t kept_count_ = 0;
};

}  // namespace

std::unique_ptr<MetricReader> make_output_reader(const std::vector<MetricDescription>& lines, const fs::path& log,
                                                 ProgramRecords& records) {
  return std::make_unique<OutputReader>(lines, log, records);
}

}  // namespace xlm
