// A file of program.metrics, and what is read of it.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "experiments/programs/metric_readers.h"
#include "tests/experiments/programs/recording_sink.h"
#include "tests/temporary_folder.h"
#include "tests/thrown_message.h"

namespace xlm {

using ColumnNames = std::vector<std::pair<std::string, std::string>>;

class MetricFileTest : public ::testing::Test {
 protected:
  MetricFileTest(MetricKind kind, const std::string& name) : kind_(kind), file_(folder_.path() / name) {}

  void use(const ColumnNames& names = {}, const Json& position = Json()) {
    const MetricDescription description{.kind = kind_, .target = file_.string(), .names = names};
    readers_ = std::make_unique<MetricReaders>(std::vector{description}, folder_.path() / "metrics.jsonl", sink_);
    readers_->begin(position);
  }

  /// The records of a file that comes at once, with the error behind them.
  std::vector<std::string> records_of(const std::string& text, const ColumnNames& names = {}) {
    fs::remove(file_);
    use(names);
    write_whole(file_, text);
    return polled();
  }

  std::vector<std::string> polled() {
    const std::string error = thrown_message<Error>([&] { readers_->poll(); });
    if (!error.empty()) sink_.lines.push_back(error);
    for (const std::string& doubt : readers_->doubts()) {
      if (doubt.find("could not be read") != std::string::npos) sink_.lines.push_back(doubt);
    }
    return sink_.take();
  }

  TemporaryFolder folder_;
  MetricKind kind_;
  fs::path file_;
  RecordingSink sink_;
  std::unique_ptr<MetricReaders> readers_;
};

}  // namespace xlm
