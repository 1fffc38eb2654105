// Names of numbers.
#include "experiments/programs/quantity_name.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/json.h"

namespace xlm {
namespace {

/// The same list as that of the adapters in Python.
TEST(QuantityNames, OfOthersGoByOneRule) {
  const Json list = read_json(XLM_SOURCE_DIR "/tests/names_of_others.json");
  EXPECT_GT(list.size(), 20U);
  for (const Json& pair : list) {
    EXPECT_EQ(quantity_name_from(pair[0].get<std::string>()), pair[1].get<std::string>()) << pair[0];
  }
}

TEST(QuantityNames, AWordForASplitIsOneInAnyCase) {
  EXPECT_EQ(split_called("VAL"), "valid");
  EXPECT_EQ(split_called("Testing"), "test");
  EXPECT_EQ(split_called("train"), "train");
  EXPECT_EQ(split_called("trained"), "");
  EXPECT_EQ(split_called(""), "");
}

}  // namespace
}  // namespace xlm
