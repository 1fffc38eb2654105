// A reader of one file of lines.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/programs/followed_file.h"
#include "experiments/programs/foreign_columns.h"
#include "experiments/programs/metric_reader.h"

namespace xlm {

/// Recognises lines that were already read, when a program rewrites a file with its old content.
class RepeatedLines {
 public:
  /// 32 MiB of memory. Lines beyond are never recognised.
  static constexpr std::size_t kMaxLines = std::size_t{1} << 22;

  /// The file is read from its beginning again.
  void restart() { next_ = 0; }

  /// Whether this line, and all lines before it, are the same as before the restart. `content` is compared.
  bool is_repeated(std::string_view content) {
    const std::uint64_t hash = std::hash<std::string_view>()(content);
    if (next_ < hashes_.size() && hashes_[next_] == hash) {
      ++next_;
      return true;
    }
    hashes_.resize(next_);
    if (next_ < kMaxLines) {
      hashes_.push_back(hash);
      ++next_;
    }
    return false;
  }

 private:
  std::vector<std::uint64_t> hashes_;
  std::size_t next_ = 0;
};

/// Follows the file, and counts the lines that are passed over. A class for each kind of file says what a line is.
class LinesReader : public MetricReader, protected LineUser {
 public:
  /// `why`: of lines that are passed over, such as "are no JSON objects". `has_quotes` as of FollowedFile.
  LinesReader(const fs::path& file, std::string_view why, bool has_quotes = false)
      : file_(file, has_quotes), name_(file.filename().string()), why_(why) {}

  void poll() override { file_.poll(*this); }
  void finish(bool /*is_done*/) override { file_.finish(*this); }
  Json place() const override { return {{"of", file_.path().string()}, {"at", file_.position().at("offset")}}; }
  void read_to(std::size_t /*attempt*/, const Json& place) override {
    if (!place.is_null()) file_.poll_to(place.at("at").get<std::uint64_t>(), *this);
  }
  bool is_whole() const override { return file_.was_seen(); }
  bool is_left() const override { return file_.is_left(); }
  bool has_lost_lines() const override { return file_.has_lost_lines(); }
  std::vector<std::string> never_came() const override;
  std::vector<std::string> doubts() const override;

 protected:
  /// Begins to follow at a reader's position. Returns the step of the newest row there, if it says one.
  std::optional<std::int64_t> begin_file(const Json& position);
  Json position_with_step(const std::optional<std::int64_t>& step) const;
  const std::string& name() const { return name_; }
  const fs::path& path() const { return file_.path(); }

  void restarted() override { repeated_.restart(); }
  void long_line(std::int64_t number) override { pass_over(number); }
  bool is_repeated(std::string_view content) { return repeated_.is_repeated(content); }
  void pass_over(std::int64_t number);

  /// That the file never came, or what is to say of its columns.
  std::vector<std::string> warnings_of(const ForeignColumns& columns) const;
  /// Lines that were passed over, and rows of two kinds.
  std::vector<std::string> doubts_of(const ForeignColumns& columns) const;

 private:
  FollowedFile file_;
  std::string name_;
  std::string why_;
  RepeatedLines repeated_;
  std::int64_t passed_over_ = 0;
  std::int64_t first_passed_over_ = 0;
};

}  // namespace xlm
