// Reading `program.better`.
#include "experiments/programs/quantity_directions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/thrown_message.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::string complaint_about_directions(const std::string& text) {
  return thrown_message([&] { read_directions(parse_yaml(text, "run.yaml")); });
}

TEST(QuantityDirections, AreReadByNameAndNestedMapsHaveDots) {
  EXPECT_THAT(read_directions(parse_yaml("{accuracy: higher, boundary: {f1: higher, miss: lower}, a.b: lower}", "r")),
              ElementsAre(Pair("a.b", "lower"), Pair("accuracy", "higher"), Pair("boundary.f1", "higher"),
                          Pair("boundary.miss", "lower")));
  EXPECT_THAT(read_directions(parse_yaml("{accuracy: null, loss: lower}", "r")), ElementsAre(Pair("loss", "lower")));
}

TEST(QuantityDirections, AreRefusedWithThePlaceAndTheRemedy) {
  EXPECT_THAT(complaint_about_directions("[accuracy]"), HasSubstr("must be a map such as {accuracy: higher}"));
  EXPECT_THAT(complaint_about_directions("\naccuracy: up"),
              AllOf(HasSubstr("run.yaml:2"), HasSubstr("program.better.accuracy must be lower or higher")));
  EXPECT_THAT(complaint_about_directions("accuracy: [higher]"), HasSubstr("must be lower or higher"));
  EXPECT_THAT(complaint_about_directions("valid: {accuracy: higher}"), HasSubstr("write accuracy: higher"));
  EXPECT_THAT(complaint_about_directions("costs.joules: lower"), HasSubstr("write joules: lower"));
  EXPECT_THAT(complaint_about_directions("top 5: higher"), HasSubstr("no quantity can be called 'top 5'"));
  EXPECT_THAT(complaint_about_directions("loss: higher"), HasSubstr("loss is known: lower is better"));
  EXPECT_THAT(complaint_about_directions("boundary_recall: lower"), HasSubstr("higher is better"));
  EXPECT_THAT(complaint_about_directions("{f1: higher, f1.macro: higher}"), HasSubstr("one is part of the other"));
}

}  // namespace
}  // namespace xlm
