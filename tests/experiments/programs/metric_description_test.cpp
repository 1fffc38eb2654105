#include "experiments/programs/metric_description.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/experiments/programs/recording_sink.h"
#include "tests/thrown_message.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(MetricDescriptionTest, IsReadAndChecked) {
  const auto read = [](const char* text) { return metric_descriptions(Json::parse(text)); };
  const auto list =
      read(R"j([{"lines": "(?<loss>.)"}, {"csv": "{run}/log.csv", "names": {"it": "step", "l": "valid.loss"}},
                             {"tensorboard": "tb"}, {"jsonl": "x"}])j");
  ASSERT_EQ(list.size(), 4U);
  EXPECT_EQ(list[0].kind, MetricKind::kLines);
  EXPECT_EQ(list[1].target, "{run}/log.csv");
  EXPECT_THAT(list[1].names, ElementsAre(std::pair("it", "step"), std::pair("l", "valid.loss")));
  EXPECT_EQ(list[2].kind, MetricKind::kTensorBoard);
  EXPECT_EQ(list[3].kind, MetricKind::kJsonLines);
  EXPECT_THAT(metric_descriptions(Json()), IsEmpty());
  const std::vector<std::pair<const char*, std::string>> wrong{
      {R"j({"lines": "a"})j", "program.metrics is a list"},
      {R"j(["a"])j", "program.metrics[1] is a map with one of lines, csv, jsonl, tensorboard"},
      {R"j([{"lines": "(?<a>.)"}, {}])j", "program.metrics[2] has none of"},
      {R"j([{"line": "a"}])j", "program.metrics[1]: unknown key 'line' (did you mean 'lines'?)"},
      {R"j([{"csv": "a", "jsonl": "b"}])j", "has both csv and jsonl"},
      {R"j([{"lines": "(?<a>.)", "thousands": ";"}])j", "program.metrics[1].thousands is one of"},
      {R"j([{"csv": "a", "thousands": ","}])j", "program.metrics[1]: thousands belongs to lines"},
      {R"j([{"csv": 3}])j", "program.metrics[1].csv is a text"},
      {R"j([{"csv": ""}])j", "program.metrics[1].csv is a text"},
      {R"j([{"lines": "("}])j", "program.metrics[1]: the pattern '(' is wrong: missing )"},
      {R"j([{"lines": "(?<a>.)", "names": {"a": "b"}}])j", "a pattern has its names inside"},
      {R"j([{"csv": "a", "names": ["b"]}])j", "names says what the program calls a number"},
      {R"j([{"csv": "a", "names": {"b": 1}}])j", "the name for 'b' is a text"},
      {R"j([{"csv": "a", "names": {"b": "c d"}}])j", "no quantity can be called 'c d'"},
      {R"j([{"csv": "a", "names": {"b": "c", "d": "c"}}])j", "'b' and 'd' are both called 'c'"},
      {R"j([{"csv": "a", "names": {"b": "step"}}])j", "a step and no numbers"},
  };
  for (const auto& [text, reason] : wrong) {
    const char* mistake = text;
    EXPECT_THAT(thrown_message<Error>([&] { read(mistake); }), HasSubstr(reason)) << text;
  }
}

}  // namespace
}  // namespace xlm
